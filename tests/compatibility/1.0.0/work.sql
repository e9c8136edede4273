BEGIN TRANSACTION;
CREATE TABLE accommodation (
	class_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	extra_days INTEGER NOT NULL, 
	CONSTRAINT pk_accommodation PRIMARY KEY (class_id, learner_id), 
	CONSTRAINT fk_accommodation_class_id FOREIGN KEY(class_id) REFERENCES class (id) ON DELETE CASCADE, 
	CONSTRAINT fk_accommodation_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE alembic_version (
	version_num VARCHAR(32) NOT NULL, 
	CONSTRAINT alembic_version_pkc PRIMARY KEY (version_num)
);
INSERT INTO "alembic_version" VALUES('0011');
CREATE TABLE assignment (
	id INTEGER NOT NULL, 
	class_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercises_json TEXT, 
	opens_at DATETIME, 
	due_at DATETIME, 
	late_until DATETIME, 
	late_share DOUBLE NOT NULL, 
	points DOUBLE NOT NULL, 
	solutions_at DATETIME, 
	heading VARCHAR(200), 
	known_exercises_json TEXT, 
	CONSTRAINT pk_assignment PRIMARY KEY (id), 
	CONSTRAINT fk_assignment_class_id FOREIGN KEY(class_id) REFERENCES class (id) ON DELETE CASCADE
);
INSERT INTO "assignment" VALUES(1,1,'linear',NULL,NULL,NULL,NULL,0.5,10.0,NULL,NULL,NULL);
CREATE TABLE attempt (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercise VARCHAR(200) NOT NULL, 
	kind VARCHAR(10) NOT NULL, 
	text TEXT NOT NULL, 
	verdict_json TEXT NOT NULL, 
	correct BOOLEAN, 
	code VARCHAR(200), 
	task_key VARCHAR(64), 
	created_at DATETIME NOT NULL, 
	revision INTEGER, 
	CONSTRAINT pk_attempt PRIMARY KEY (id), 
	CONSTRAINT fk_attempt_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
INSERT INTO "attempt" VALUES(1,2,'linear-layer','dw-shape','quiz','["(4, 3)"]','{"correct": false, "echo": "(4, 3)"}',0,NULL,NULL,'2026-11-25 17:47:58.975663',NULL);
INSERT INTO "attempt" VALUES(2,2,'linear-layer','linear-backward','code','dW = X.T @ dY  # as it was written then','{"outcome":"graded","passed":false,"names":[{"name":"dX","verdict":"wrong","code":"dX:transposed","message":"This is the transpose of `dX`.","exact":false,"approx":false,"maxdiff":0.731234,"line":1,"note":"","worst":[{"index":[1,2],"yours":0.5,"off":1.0,"ratio":-1.0}],"differences":{"rows":[".aL","lA?"],"largest":0.731,"shape":[2,3],"corner":[0,0],"pattern":"Each `row` is off."},"word":"","facts":[]},{"name":"dW","verdict":"not-yet","code":null,"message":"A blank is left.","exact":null,"approx":null,"maxdiff":null,"line":null,"note":"","worst":[],"differences":null,"word":"","facts":[]},{"name":"db","verdict":"not-yet","code":null,"message":"A blank is left.","exact":null,"approx":null,"maxdiff":null,"line":null,"note":"","worst":[],"differences":null,"word":"","facts":[]}],"line":null,"column":null,"message":"","hidden_sizes":2,"printed":"<b>dW = X.T @ dY  # as it was written then</b>","wall_ms":0.0,"jail_ms":0.0}',0,'dX:transposed','c9ce538902c911ec02b299ec349113faabd3842f6ac2e4e4c044447a60e68703','2026-11-25 17:47:59.148562',1);
CREATE TABLE audit_event (
	id INTEGER NOT NULL, 
	recorded_at DATETIME NOT NULL, 
	class_id INTEGER, 
	actor INTEGER, 
	verb VARCHAR(40) NOT NULL, 
	subject TEXT NOT NULL, 
	data_json TEXT NOT NULL, 
	CONSTRAINT pk_audit_event PRIMARY KEY (id), 
	CONSTRAINT fk_audit_event_class_id FOREIGN KEY(class_id) REFERENCES class (id) ON DELETE CASCADE, 
	CONSTRAINT fk_audit_event_actor FOREIGN KEY(actor) REFERENCES learner (id) ON DELETE SET NULL
);
INSERT INTO "audit_event" VALUES(1,'2026-11-25 17:47:58.144791',NULL,NULL,'teacher-added','1','{}');
INSERT INTO "audit_event" VALUES(2,'2026-11-25 17:47:58.912022',1,1,'class-made','1','{"name": "Algebra"}');
INSERT INTO "audit_event" VALUES(3,'2026-11-25 17:47:58.914955',1,NULL,'assigned','1','{"lesson": "linear", "due": null}');
INSERT INTO "audit_event" VALUES(4,'2026-11-25 17:47:58.920473',1,2,'joined','2','{"role": "learner"}');
CREATE TABLE card (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	family VARCHAR(40) NOT NULL, 
	slip VARCHAR(200) NOT NULL, 
	state_json TEXT NOT NULL, 
	met INTEGER NOT NULL, 
	due_at DATETIME NOT NULL, 
	opened_at DATETIME NOT NULL, 
	CONSTRAINT pk_card PRIMARY KEY (id), 
	CONSTRAINT uq_card_learner_id_family_slip UNIQUE (learner_id, family, slip), 
	CONSTRAINT fk_card_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE class (
	id INTEGER NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	timezone VARCHAR(200) NOT NULL, 
	join_code VARCHAR(9), 
	joining VARCHAR(10) NOT NULL, 
	created_by INTEGER, 
	created_at DATETIME NOT NULL, 
	archived_at DATETIME, 
	keep_until DATE, 
	assistants_grade BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_class PRIMARY KEY (id), 
	CONSTRAINT uq_class_join_code UNIQUE (join_code), 
	CONSTRAINT fk_class_created_by FOREIGN KEY(created_by) REFERENCES learner (id) ON DELETE SET NULL
);
INSERT INTO "class" VALUES(1,'Algebra','Europe/Berlin','HXJPNWW2H','open',1,'2026-11-25 17:47:58.909907',NULL,NULL,0);
CREATE TABLE clock (
	job VARCHAR(20) NOT NULL, 
	seen_at DATETIME NOT NULL, 
	doubted_until DATETIME, 
	CONSTRAINT pk_clock PRIMARY KEY (job)
);
INSERT INTO "clock" VALUES('sweep','2026-11-25 17:47:58.096733','2026-11-26 17:47:58.096733');
CREATE TABLE credential (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	issuer TEXT NOT NULL, 
	subject TEXT NOT NULL, 
	secret TEXT, 
	sign_count INTEGER, 
	verified BOOLEAN NOT NULL, 
	created_at DATETIME NOT NULL, 
	used_at DATETIME, 
	roster_id VARCHAR(200), 
	CONSTRAINT pk_credential PRIMARY KEY (id), 
	CONSTRAINT uq_credential_kind_issuer_subject UNIQUE (kind, issuer, subject), 
	CONSTRAINT fk_credential_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
INSERT INTO "credential" VALUES(1,1,'password','','ada','$argon2id$v=19$m=65536,t=3,p=4$whUc2W0FT8jglzStSFmvPA$8I5dU2JOgubT/0y3uoZbCOuR6sHmsSvKVwAb9P2+934',NULL,1,'2026-11-25 17:47:58.623356','2026-11-25 17:47:58.623359',NULL);
INSERT INTO "credential" VALUES(2,2,'password','','grace','$argon2id$v=19$m=65536,t=3,p=4$pLZeMUQ3oybMfAW0nXm53A$/3rr6VyQfbDQMpk5Ta31LwiEzHZPklx3FSEfz8eDmvI',NULL,1,'2026-11-25 17:47:59.703435','2026-11-25 17:47:59.703436',NULL);
CREATE TABLE draft (
	learner_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercise VARCHAR(200) NOT NULL, 
	text TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	saved_at DATETIME NOT NULL, 
	run_json TEXT, 
	CONSTRAINT pk_draft PRIMARY KEY (learner_id, lesson, exercise), 
	CONSTRAINT fk_draft_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
INSERT INTO "draft" VALUES(2,'linear-layer','linear-backward','dW = X.T @ dY  # as it was written then',1,'2026-11-25 17:47:58.927716',NULL);
CREATE TABLE drill (
	learner_id INTEGER NOT NULL, 
	family VARCHAR(40) NOT NULL, 
	best INTEGER NOT NULL, 
	reached_at DATETIME NOT NULL, 
	CONSTRAINT pk_drill PRIMARY KEY (learner_id, family), 
	CONSTRAINT fk_drill_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE extension (
	assignment_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	due_at DATETIME NOT NULL, 
	late_until DATETIME, 
	reason TEXT NOT NULL, 
	set_by INTEGER, 
	set_at DATETIME NOT NULL, 
	CONSTRAINT pk_extension PRIMARY KEY (assignment_id, learner_id), 
	CONSTRAINT fk_extension_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id) ON DELETE CASCADE, 
	CONSTRAINT fk_extension_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE, 
	CONSTRAINT fk_extension_set_by FOREIGN KEY(set_by) REFERENCES learner (id) ON DELETE SET NULL
);
CREATE TABLE former_member (
	id INTEGER NOT NULL, 
	class_id INTEGER NOT NULL, 
	learner_id INTEGER, 
	name VARCHAR(200) NOT NULL, 
	external_id VARCHAR(200), 
	label VARCHAR(200), 
	left_at DATETIME NOT NULL, 
	reason VARCHAR(10) NOT NULL, 
	solved_json TEXT NOT NULL, 
	overrides_json TEXT NOT NULL, 
	CONSTRAINT pk_former_member PRIMARY KEY (id), 
	CONSTRAINT fk_former_member_class_id FOREIGN KEY(class_id) REFERENCES class (id) ON DELETE CASCADE, 
	CONSTRAINT fk_former_member_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE SET NULL
);
CREATE TABLE given_unit (
	class_id INTEGER NOT NULL, 
	unit VARCHAR(200) NOT NULL, 
	CONSTRAINT pk_given_unit PRIMARY KEY (class_id, unit), 
	CONSTRAINT fk_given_unit_class_id FOREIGN KEY(class_id) REFERENCES class (id) ON DELETE CASCADE
);
CREATE TABLE grade_override (
	assignment_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	points DOUBLE, 
	reason TEXT NOT NULL, 
	set_by INTEGER, 
	set_at DATETIME NOT NULL, 
	CONSTRAINT pk_grade_override PRIMARY KEY (assignment_id, learner_id), 
	CONSTRAINT fk_grade_override_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id) ON DELETE CASCADE, 
	CONSTRAINT fk_grade_override_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE, 
	CONSTRAINT fk_grade_override_set_by FOREIGN KEY(set_by) REFERENCES learner (id) ON DELETE SET NULL
);
CREATE TABLE learner (
	id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	opened_lesson VARCHAR(200), 
	opened_at DATETIME, 
	name VARCHAR(200), 
	teaches BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_learner PRIMARY KEY (id)
);
INSERT INTO "learner" VALUES(1,'2026-11-25 17:47:58.091696',NULL,NULL,'Ada',1);
INSERT INTO "learner" VALUES(2,'2026-11-25 17:47:58.150930','linear-layer','2026-11-25 17:47:59.033475','Grace',0);
CREATE TABLE membership (
	class_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	role VARCHAR(10) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	external_id VARCHAR(200), 
	label VARCHAR(200), 
	joined_at DATETIME, 
	left_at DATETIME, 
	blocked BOOLEAN NOT NULL, 
	seated_by VARCHAR(10), 
	CONSTRAINT pk_membership PRIMARY KEY (class_id, learner_id), 
	CONSTRAINT uq_membership_class_id_external_id UNIQUE (class_id, external_id), 
	CONSTRAINT fk_membership_class_id FOREIGN KEY(class_id) REFERENCES class (id) ON DELETE CASCADE, 
	CONSTRAINT fk_membership_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
INSERT INTO "membership" VALUES(1,1,'instructor','Ada',NULL,NULL,'2026-11-25 17:47:58.911965',NULL,0,NULL);
INSERT INTO "membership" VALUES(1,2,'learner','Grace',NULL,NULL,'2026-11-25 17:47:58.919200',NULL,0,NULL);
CREATE TABLE notice (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	data_json TEXT NOT NULL, 
	read_at DATETIME, 
	CONSTRAINT pk_notice PRIMARY KEY (id), 
	CONSTRAINT fk_notice_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE one_time_token (
	token_hash VARCHAR(64) NOT NULL, 
	purpose VARCHAR(20) NOT NULL, 
	data_json TEXT NOT NULL, 
	tries INTEGER NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_one_time_token PRIMARY KEY (token_hash)
);
INSERT INTO "one_time_token" VALUES('c460eea69aa07a0712ff18ba7b1fec38c1a0782dbf2ea10bed129b0dc5a568e2','rotated','{}',0,'2026-11-25 17:57:58.626730');
INSERT INTO "one_time_token" VALUES('083cfc99f98049eea940ee642fd427c510cfc9c245e41e897f794e97d9280312','rotated','{}',0,'2026-11-25 17:57:59.705304');
CREATE TABLE practice_item (
	id INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	level INTEGER NOT NULL, 
	seed INTEGER NOT NULL, 
	wanted VARCHAR(200) NOT NULL, 
	within_json TEXT NOT NULL, 
	form VARCHAR(20) NOT NULL, 
	fragment TEXT NOT NULL, 
	forward TEXT NOT NULL, 
	solution TEXT NOT NULL, 
	operations_json TEXT NOT NULL, 
	line_operations_json TEXT NOT NULL, 
	points DOUBLE NOT NULL, 
	proved_at DATETIME NOT NULL, 
	CONSTRAINT pk_practice_item PRIMARY KEY (id), 
	CONSTRAINT uq_practice_item_version_level_seed_wanted_within_json_form UNIQUE (version, level, seed, wanted, within_json, form)
);
CREATE TABLE practice_session (
	learner_id INTEGER NOT NULL, 
	began_at DATETIME NOT NULL, 
	plan_json TEXT NOT NULL, 
	seen_attempt_id INTEGER NOT NULL, 
	CONSTRAINT pk_practice_session PRIMARY KEY (learner_id), 
	CONSTRAINT fk_practice_session_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE problem_report (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercise VARCHAR(200) NOT NULL, 
	edition VARCHAR(16) NOT NULL, 
	said TEXT NOT NULL, 
	text TEXT NOT NULL, 
	browser VARCHAR(200) NOT NULL, 
	settled_at DATETIME, 
	settled_by INTEGER, 
	answer TEXT DEFAULT '' NOT NULL, 
	CONSTRAINT pk_problem_report PRIMARY KEY (id), 
	CONSTRAINT fk_problem_report_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE, 
	CONSTRAINT fk_problem_report_settled_by FOREIGN KEY(settled_by) REFERENCES learner (id) ON DELETE SET NULL
);
CREATE TABLE progress (
	learner_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercise VARCHAR(200) NOT NULL, 
	solved_at DATETIME, 
	hints INTEGER NOT NULL, 
	solution_at DATETIME, 
	edition VARCHAR(16), 
	CONSTRAINT pk_progress PRIMARY KEY (learner_id, lesson, exercise), 
	CONSTRAINT fk_progress_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE replaced_text (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercise VARCHAR(200) NOT NULL, 
	text TEXT NOT NULL, 
	reason VARCHAR(20) NOT NULL, 
	replaced_at DATETIME NOT NULL, 
	CONSTRAINT pk_replaced_text PRIMARY KEY (id), 
	CONSTRAINT fk_replaced_text_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE review (
	id INTEGER NOT NULL, 
	card_id INTEGER NOT NULL, 
	item_id INTEGER, 
	rating INTEGER NOT NULL, 
	reviewed_at DATETIME NOT NULL, 
	CONSTRAINT pk_review PRIMARY KEY (id), 
	CONSTRAINT fk_review_card_id FOREIGN KEY(card_id) REFERENCES card (id) ON DELETE CASCADE, 
	CONSTRAINT fk_review_item_id FOREIGN KEY(item_id) REFERENCES practice_item (id) ON DELETE SET NULL
);
CREATE TABLE roster_change (
	class_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	changed_at DATETIME NOT NULL, 
	is_new BOOLEAN NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	external_id VARCHAR(200), 
	label VARCHAR(200), 
	CONSTRAINT pk_roster_change PRIMARY KEY (class_id, learner_id), 
	CONSTRAINT fk_roster_change_class_id FOREIGN KEY(class_id) REFERENCES class (id) ON DELETE CASCADE, 
	CONSTRAINT fk_roster_change_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE served_item (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	item_id INTEGER NOT NULL, 
	family VARCHAR(40) NOT NULL, 
	slip VARCHAR(200) NOT NULL, 
	given_at DATETIME NOT NULL, 
	done_at DATETIME, 
	left_at DATETIME, 
	code VARCHAR(200), 
	seconds INTEGER, 
	hints INTEGER NOT NULL, 
	CONSTRAINT pk_served_item PRIMARY KEY (id), 
	CONSTRAINT uq_served_item_learner_id_item_id UNIQUE (learner_id, item_id), 
	CONSTRAINT fk_served_item_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE, 
	CONSTRAINT fk_served_item_item_id FOREIGN KEY(item_id) REFERENCES practice_item (id) ON DELETE CASCADE
);
CREATE TABLE session (
	token_hash VARCHAR(64) NOT NULL, 
	learner_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, 
	label VARCHAR(200), 
	credential_id INTEGER, 
	CONSTRAINT pk_session PRIMARY KEY (token_hash), 
	CONSTRAINT fk_session_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE, 
	CONSTRAINT fk_session_credential_id FOREIGN KEY(credential_id) REFERENCES credential (id) ON DELETE CASCADE
);
INSERT INTO "session" VALUES('0e4e2054a094fb6be5d84a097b02d218ad14d9e3998ffcbf0eabcfe76786f1e4',1,'2026-11-25 17:47:58.627664','2026-11-25 17:47:58.627666','A browser',1);
INSERT INTO "session" VALUES('974f910941188cb8bc5a00c988600509daa7444ec34289c3c7e7fd919205ddff',2,'2026-11-25 17:47:59.705737','2026-11-25 17:47:59.705738','A browser',2);
CREATE TABLE training_run (
	learner_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercise VARCHAR(200) NOT NULL, 
	preset VARCHAR(200) NOT NULL, 
	attempt_id INTEGER, 
	passing BOOLEAN NOT NULL, 
	snapshot_json TEXT NOT NULL, 
	finished_json TEXT, 
	live BOOLEAN NOT NULL, 
	stopping BOOLEAN NOT NULL, 
	owner VARCHAR(40), 
	checkpoint_json TEXT, 
	began_at DATETIME NOT NULL, 
	lease_renewed_at DATETIME NOT NULL, 
	CONSTRAINT pk_training_run PRIMARY KEY (learner_id, lesson, exercise), 
	CONSTRAINT fk_training_run_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE INDEX ix_one_time_token_expires_at ON one_time_token (expires_at);
CREATE INDEX ix_practice_item_level_wanted ON practice_item (level, wanted);
CREATE INDEX ix_credential_learner_id ON credential (learner_id);
CREATE INDEX ix_replaced_text_learner_id_lesson_exercise ON replaced_text (learner_id, lesson, exercise);
CREATE INDEX ix_attempt_created_at ON attempt (created_at) WHERE code IS NOT NULL;
CREATE INDEX ix_attempt_learner_id_id ON attempt (learner_id, id);
CREATE INDEX ix_attempt_task_key ON attempt (task_key);
CREATE INDEX ix_attempt_learner_id_lesson_exercise ON attempt (learner_id, lesson, exercise);
CREATE INDEX ix_notice_learner_id ON notice (learner_id);
CREATE INDEX ix_problem_report_learner_id ON problem_report (learner_id);
CREATE INDEX ix_served_item_item_id ON served_item (item_id);
CREATE INDEX ix_served_item_learner_id_given_at ON served_item (learner_id, given_at);
CREATE INDEX ix_session_learner_id ON session (learner_id);
CREATE INDEX ix_session_credential_id ON session (credential_id);
CREATE INDEX ix_membership_learner_id ON membership (learner_id);
CREATE INDEX ix_roster_change_learner_id ON roster_change (learner_id);
CREATE INDEX ix_former_member_learner_id ON former_member (learner_id);
CREATE INDEX ix_former_member_class_id ON former_member (class_id);
CREATE INDEX ix_assignment_class_id ON assignment (class_id);
CREATE INDEX ix_accommodation_learner_id ON accommodation (learner_id);
CREATE INDEX ix_audit_event_recorded_at ON audit_event (recorded_at);
CREATE INDEX ix_audit_event_actor ON audit_event (actor);
CREATE INDEX ix_audit_event_class_id_verb_recorded_at ON audit_event (class_id, verb, recorded_at);
CREATE INDEX ix_review_card_id ON review (card_id);
CREATE INDEX ix_review_item_id ON review (item_id);
CREATE INDEX ix_extension_learner_id ON extension (learner_id);
CREATE INDEX ix_grade_override_learner_id ON grade_override (learner_id);
COMMIT;
