// A class is most often taught where its instructor's clock stands: an empty time zone begins with that of the browser.
for (const field of document.querySelectorAll("input[data-zone]")) {
  field.value ||= Intl.DateTimeFormat().resolvedOptions().timeZone ?? "";
}
