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
INSERT INTO "alembic_version" VALUES('0009');
CREATE TABLE assignment (
	id INTEGER NOT NULL, 
	class_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercises TEXT, 
	opens_at DATETIME, 
	due_at DATETIME, 
	late_until DATETIME, 
	late_share DOUBLE NOT NULL, 
	points DOUBLE NOT NULL, 
	solutions_at DATETIME, heading VARCHAR(200), known_exercises TEXT, 
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
	verdict TEXT NOT NULL, 
	correct BOOLEAN, 
	code VARCHAR(200), 
	task_key VARCHAR(64), 
	created_at DATETIME NOT NULL, revision INTEGER, 
	CONSTRAINT pk_attempt PRIMARY KEY (id), 
	CONSTRAINT fk_attempt_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
INSERT INTO "attempt" VALUES(1,2,'linear-layer','dw-shape','quiz','["(4, 3)"]','{"correct": false, "echo": "(4, 3)"}',0,NULL,NULL,'2026-11-25 13:54:07.007112',NULL);
INSERT INTO "attempt" VALUES(2,2,'linear-layer','linear-backward','code','dW = X.T @ dY  # as it was written then','{"outcome":"graded","passed":false,"names":[{"name":"dX","verdict":"wrong","code":"dX:transposed","message":"This is the transpose of `dX`.","exact":false,"approx":false,"maxdiff":0.731234,"line":1,"note":"","worst":[{"index":[1,2],"yours":0.5,"off":1.0,"ratio":-1.0}],"differences":{"rows":[".aL","lA?"],"largest":0.731,"shape":[2,3],"corner":[0,0],"pattern":"Each `row` is off."},"word":"","facts":[]},{"name":"dW","verdict":"not-yet","code":null,"message":"A blank is left.","exact":null,"approx":null,"maxdiff":null,"line":null,"note":"","worst":[],"differences":null,"word":"","facts":[]},{"name":"db","verdict":"not-yet","code":null,"message":"A blank is left.","exact":null,"approx":null,"maxdiff":null,"line":null,"note":"","worst":[],"differences":null,"word":"","facts":[]}],"line":null,"column":null,"message":"","hidden_sizes":2,"printed":"<b>dW = X.T @ dY  # as it was written then</b>","wall_ms":0.0,"jail_ms":0.0}',0,'dX:transposed','81b93459c3fc47f95b5630b3e2cf923dc095bad69633ea3d6c729ae0f3c19de7','2026-11-25 13:54:08.888896',1);
CREATE TABLE card (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	family VARCHAR(40) NOT NULL, 
	slip VARCHAR(200) NOT NULL, 
	state TEXT NOT NULL, 
	met INTEGER NOT NULL, 
	due_at DATETIME NOT NULL, 
	opened_at DATETIME NOT NULL, 
	CONSTRAINT pk_card PRIMARY KEY (id), 
	CONSTRAINT fk_card_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE, 
	CONSTRAINT uq_card_learner_id_family_slip UNIQUE (learner_id, family, slip)
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
	keep_until DATE, assistants_grade BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_class PRIMARY KEY (id), 
	CONSTRAINT fk_class_created_by FOREIGN KEY(created_by) REFERENCES learner (id) ON DELETE SET NULL, 
	CONSTRAINT uq_class_join_code UNIQUE (join_code)
);
INSERT INTO "class" VALUES(1,'Algebra','Europe/Berlin','BFAVGQ0SR','open',1,'2026-11-25 13:54:06.483047',NULL,NULL,0);
CREATE TABLE clock (
	job VARCHAR(20) NOT NULL, 
	seen_at DATETIME NOT NULL, 
	doubted_until DATETIME, 
	CONSTRAINT pk_clock PRIMARY KEY (job)
);
INSERT INTO "clock" VALUES('sweep','2026-11-25 13:53:58.174187','2026-11-26 13:53:58.174187');
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
	used_at DATETIME, roster_id VARCHAR(200), 
	CONSTRAINT pk_credential PRIMARY KEY (id), 
	CONSTRAINT fk_credential_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE, 
	CONSTRAINT uq_credential_kind_issuer_subject UNIQUE (kind, issuer, subject)
);
INSERT INTO "credential" VALUES(1,1,'password','','ada','$argon2id$v=19$m=65536,t=3,p=4$/UmPwLT9fIhgdCyOEo3T4A$JyNyHbvxDXWHOixPc+v6mGRq075Xhrfw89TVZSKtN+Q',NULL,1,'2026-11-25 13:54:04.469044','2026-11-25 13:54:04.469050',NULL);
INSERT INTO "credential" VALUES(2,2,'password','','grace','$argon2id$v=19$m=65536,t=3,p=4$iwcgeZSODJTn3ozCCFhY8A$WcJYomGImm/DqZpbJZ8uCfB/Xx4ukL5HBT8WOGVpgo0',NULL,1,'2026-11-25 13:54:11.505720','2026-11-25 13:54:11.505722',NULL);
CREATE TABLE draft (
	learner_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercise VARCHAR(200) NOT NULL, 
	text TEXT NOT NULL, 
	revision INTEGER NOT NULL, 
	saved_at DATETIME NOT NULL, 
	run TEXT, 
	CONSTRAINT pk_draft PRIMARY KEY (learner_id, lesson, exercise), 
	CONSTRAINT fk_draft_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
INSERT INTO "draft" VALUES(2,'linear-layer','linear-backward','dW = X.T @ dY  # as it was written then',1,'2026-11-25 13:54:06.875659',NULL);
CREATE TABLE drill (
	learner_id INTEGER NOT NULL, 
	family VARCHAR(40) NOT NULL, 
	best INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_drill PRIMARY KEY (learner_id, family), 
	CONSTRAINT fk_drill_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE event (
	id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	class_id INTEGER, 
	actor INTEGER, 
	verb VARCHAR(40) NOT NULL, 
	subject TEXT NOT NULL, 
	data TEXT NOT NULL, 
	CONSTRAINT pk_event PRIMARY KEY (id), 
	CONSTRAINT fk_event_actor FOREIGN KEY(actor) REFERENCES learner (id) ON DELETE SET NULL, 
	CONSTRAINT fk_event_class_id FOREIGN KEY(class_id) REFERENCES class (id) ON DELETE CASCADE
);
INSERT INTO "event" VALUES(1,'2026-11-25 13:53:58.489165',NULL,NULL,'teacher-added','1','{}');
INSERT INTO "event" VALUES(2,'2026-11-25 13:54:06.489492',1,1,'class-made','1','{"name": "Algebra"}');
INSERT INTO "event" VALUES(3,'2026-11-25 13:54:06.577290',1,NULL,'assigned','1','{"lesson": "linear", "due": null}');
INSERT INTO "event" VALUES(4,'2026-11-25 13:54:06.750961',1,2,'joined','2','{"role": "learner"}');
CREATE TABLE excuse (
	assignment_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	points DOUBLE, 
	reason TEXT NOT NULL, 
	"by" INTEGER, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_excuse PRIMARY KEY (assignment_id, learner_id), 
	CONSTRAINT fk_excuse_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id) ON DELETE CASCADE, 
	CONSTRAINT fk_excuse_by FOREIGN KEY("by") REFERENCES learner (id) ON DELETE SET NULL, 
	CONSTRAINT fk_excuse_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE extension (
	assignment_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	due_at DATETIME NOT NULL, 
	late_until DATETIME, 
	reason TEXT NOT NULL, 
	"by" INTEGER, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_extension PRIMARY KEY (assignment_id, learner_id), 
	CONSTRAINT fk_extension_assignment_id FOREIGN KEY(assignment_id) REFERENCES assignment (id) ON DELETE CASCADE, 
	CONSTRAINT fk_extension_by FOREIGN KEY("by") REFERENCES learner (id) ON DELETE SET NULL, 
	CONSTRAINT fk_extension_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
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
	solved TEXT NOT NULL, 
	overrides TEXT NOT NULL, 
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
CREATE TABLE kept (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercise VARCHAR(200) NOT NULL, 
	text TEXT NOT NULL, 
	reason VARCHAR(20) NOT NULL, 
	kept_at DATETIME NOT NULL, 
	CONSTRAINT pk_kept PRIMARY KEY (id), 
	CONSTRAINT fk_kept_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE learner (
	id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	opened_lesson VARCHAR(200), 
	opened_at DATETIME, name VARCHAR(200), teaches BOOLEAN DEFAULT 0 NOT NULL, 
	CONSTRAINT pk_learner PRIMARY KEY (id)
);
INSERT INTO "learner" VALUES(1,'2026-11-25 13:53:58.252618',NULL,NULL,'Ada',1);
INSERT INTO "learner" VALUES(2,'2026-11-25 13:53:58.535854','linear-layer','2026-11-25 13:54:07.464923','Grace',0);
CREATE TABLE membership (
	class_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	role VARCHAR(10) NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	external_id VARCHAR(200), 
	label VARCHAR(200), 
	joined_at DATETIME, 
	left_at DATETIME, 
	blocked BOOLEAN NOT NULL, seated_by VARCHAR(10), 
	CONSTRAINT pk_membership PRIMARY KEY (class_id, learner_id), 
	CONSTRAINT fk_membership_class_id FOREIGN KEY(class_id) REFERENCES class (id) ON DELETE CASCADE, 
	CONSTRAINT fk_membership_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE, 
	CONSTRAINT uq_membership_class_id_external_id UNIQUE (class_id, external_id)
);
INSERT INTO "membership" VALUES(1,1,'instructor','Ada',NULL,NULL,'2026-11-25 13:54:06.489391',NULL,0,NULL);
INSERT INTO "membership" VALUES(1,2,'learner','Grace',NULL,NULL,'2026-11-25 13:54:06.694555',NULL,0,NULL);
CREATE TABLE notice (
	id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	kind VARCHAR(20) NOT NULL, 
	data TEXT NOT NULL, 
	read_at DATETIME, 
	CONSTRAINT pk_notice PRIMARY KEY (id), 
	CONSTRAINT fk_notice_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE practice_attempt (
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
	CONSTRAINT pk_practice_attempt PRIMARY KEY (id), 
	CONSTRAINT fk_practice_attempt_item_id FOREIGN KEY(item_id) REFERENCES practice_item (id) ON DELETE CASCADE, 
	CONSTRAINT fk_practice_attempt_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE, 
	CONSTRAINT uq_practice_attempt_learner_id_item_id UNIQUE (learner_id, item_id)
);
CREATE TABLE practice_item (
	id INTEGER NOT NULL, 
	version INTEGER NOT NULL, 
	level INTEGER NOT NULL, 
	seed INTEGER NOT NULL, 
	wanted VARCHAR(200) NOT NULL, 
	within TEXT NOT NULL, 
	form VARCHAR(20) NOT NULL, 
	fragment TEXT NOT NULL, 
	forward TEXT NOT NULL, 
	solution TEXT NOT NULL, 
	operations TEXT NOT NULL, 
	"by" TEXT NOT NULL, 
	points DOUBLE NOT NULL, 
	proved_at DATETIME NOT NULL, 
	CONSTRAINT pk_practice_item PRIMARY KEY (id), 
	CONSTRAINT uq_practice_item_version_level_seed_wanted_within_form UNIQUE (version, level, seed, wanted, within, form)
);
CREATE TABLE progress (
	learner_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercise VARCHAR(200) NOT NULL, 
	solved_at DATETIME, 
	hints INTEGER NOT NULL, 
	solution_at DATETIME, edition VARCHAR(16), 
	CONSTRAINT pk_progress PRIMARY KEY (learner_id, lesson, exercise), 
	CONSTRAINT fk_progress_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE review (
	id INTEGER NOT NULL, 
	card_id INTEGER NOT NULL, 
	item_id INTEGER, 
	rating INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	CONSTRAINT pk_review PRIMARY KEY (id), 
	CONSTRAINT fk_review_card_id FOREIGN KEY(card_id) REFERENCES card (id) ON DELETE CASCADE, 
	CONSTRAINT fk_review_item_id FOREIGN KEY(item_id) REFERENCES practice_item (id) ON DELETE SET NULL
);
CREATE TABLE roster_change (
	class_id INTEGER NOT NULL, 
	learner_id INTEGER NOT NULL, 
	at DATETIME NOT NULL, 
	is_new BOOLEAN NOT NULL, 
	name VARCHAR(200) NOT NULL, 
	external_id VARCHAR(200), 
	label VARCHAR(200), 
	CONSTRAINT pk_roster_change PRIMARY KEY (class_id, learner_id), 
	CONSTRAINT fk_roster_change_class_id FOREIGN KEY(class_id) REFERENCES class (id) ON DELETE CASCADE, 
	CONSTRAINT fk_roster_change_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE "session" (
	token_hash VARCHAR(64) NOT NULL, 
	learner_id INTEGER NOT NULL, 
	created_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, 
	label VARCHAR(200), 
	via INTEGER, 
	CONSTRAINT pk_session PRIMARY KEY (token_hash), 
	CONSTRAINT fk_session_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE, 
	CONSTRAINT fk_session_via FOREIGN KEY(via) REFERENCES credential (id) ON DELETE CASCADE
);
INSERT INTO "session" VALUES('7d826cce85265e9d67a6d66cd49be8f8f15aef794264ec5db003cb8f63185169',1,'2026-11-25 13:54:04.605958','2026-11-25 13:54:04.605964','A browser',1);
INSERT INTO "session" VALUES('f74aee23c9d251ffa3768d3a41a982fdc67b719663283a300653bb28f7c8ab85',2,'2026-11-25 13:54:11.612992','2026-11-25 13:54:11.612998','A browser',2);
CREATE TABLE sitting (
	learner_id INTEGER NOT NULL, 
	began_at DATETIME NOT NULL, 
	"plan" TEXT NOT NULL, 
	seen_attempt INTEGER NOT NULL, 
	CONSTRAINT pk_sitting PRIMARY KEY (learner_id), 
	CONSTRAINT fk_sitting_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE TABLE ticket (
	token_hash VARCHAR(64) NOT NULL, 
	purpose VARCHAR(20) NOT NULL, 
	data TEXT NOT NULL, 
	tries INTEGER NOT NULL, 
	expires_at DATETIME NOT NULL, 
	CONSTRAINT pk_ticket PRIMARY KEY (token_hash)
);
INSERT INTO "ticket" VALUES('66a87718552af10e1df09697c1810197bc98d832eddd25aed98bc00299d0b003','rotated','{}',0,'2026-11-25 14:04:04.590980');
INSERT INTO "ticket" VALUES('e9ebe525bd421d2ab654f19e5e996e553431e7604769604dd2a1958bab549f12','rotated','{}',0,'2026-11-25 14:04:11.588596');
CREATE TABLE training (
	learner_id INTEGER NOT NULL, 
	lesson VARCHAR(200) NOT NULL, 
	exercise VARCHAR(200) NOT NULL, 
	preset VARCHAR(200) NOT NULL, 
	attempt_id INTEGER, 
	passing BOOLEAN NOT NULL, 
	run TEXT NOT NULL, 
	live BOOLEAN NOT NULL, 
	stopping BOOLEAN NOT NULL, 
	began_at DATETIME NOT NULL, 
	seen_at DATETIME NOT NULL, finished TEXT, owner VARCHAR(40), halt TEXT, 
	CONSTRAINT pk_training PRIMARY KEY (learner_id, lesson, exercise), 
	CONSTRAINT fk_training_learner_id FOREIGN KEY(learner_id) REFERENCES learner (id) ON DELETE CASCADE
);
CREATE INDEX ix_kept_learner_id_lesson_exercise ON kept (learner_id, lesson, exercise);
CREATE INDEX ix_attempt_learner_id_lesson_exercise ON attempt (learner_id, lesson, exercise);
CREATE INDEX ix_attempt_task_key ON attempt (task_key);
CREATE INDEX ix_ticket_expires_at ON ticket (expires_at);
CREATE INDEX ix_credential_learner_id ON credential (learner_id);
CREATE INDEX ix_accommodation_learner_id ON accommodation (learner_id);
CREATE INDEX ix_assignment_class_id ON assignment (class_id);
CREATE INDEX ix_event_actor ON event (actor);
CREATE INDEX ix_event_at ON event (at);
CREATE INDEX ix_event_class_id_verb_at ON event (class_id, verb, at);
CREATE INDEX ix_membership_learner_id ON membership (learner_id);
CREATE INDEX ix_excuse_learner_id ON excuse (learner_id);
CREATE INDEX ix_extension_learner_id ON extension (learner_id);
CREATE INDEX ix_attempt_created_at ON attempt (created_at) WHERE code IS NOT NULL;
CREATE INDEX ix_attempt_learner_id_id ON attempt (learner_id, id);
CREATE INDEX ix_session_learner_id ON session (learner_id);
CREATE INDEX ix_session_via ON session (via);
CREATE INDEX ix_practice_item_level_wanted ON practice_item (level, wanted);
CREATE INDEX ix_practice_attempt_item_id ON practice_attempt (item_id);
CREATE INDEX ix_practice_attempt_learner_id_given_at ON practice_attempt (learner_id, given_at);
CREATE INDEX ix_review_card_id ON review (card_id);
CREATE INDEX ix_review_item_id ON review (item_id);
CREATE INDEX ix_former_member_class_id ON former_member (class_id);
CREATE INDEX ix_former_member_learner_id ON former_member (learner_id);
CREATE INDEX ix_notice_learner_id ON notice (learner_id);
CREATE INDEX ix_roster_change_learner_id ON roster_change (learner_id);
COMMIT;
