import { archiveFileName, documentFileName } from './file-names.js';

it.each([
  ['welcome', 'welcome.md'],
  ['con', '_con.md'],
  ['lpt9', '_lpt9.md'],
  ['com10', 'com10.md'],
  ['console', 'console.md'],
])('names the file of %s %s', (slug, expected) => expect(documentFileName(slug)).toBe(expected));

it.each([
  ['Handbook', 'Handbook.zip'],
  ['Ünïcode 😀', 'Ünïcode 😀.zip'],
  ['a/b\\c:d*e?f"g<h>i|j', 'a-b-c-d-e-f-g-h-i-j.zip'],
  ['line\nend\u202e', 'line-end-.zip'],
  ['dots... . ', 'dots.zip'],
  ['...', 'project.zip'],
  ['NUL', '_NUL.zip'],
  ['aux.old', '_aux.old.zip'],
  ['COM¹', '_COM¹.zip'],
  ['😀'.repeat(100), `${'😀'.repeat(50)}.zip`],
])('names the archive of %j %s', (name, expected) => expect(archiveFileName(name)).toBe(expected));
