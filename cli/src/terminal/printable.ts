/** C0 and C1 controls, and characters that change the direction of text. */
// eslint-disable-next-line no-control-regex
const CONTROLS = /[\u0000-\u001f\u007f-\u009f\u200e\u200f\u202a-\u202e\u2066-\u2069]+/g;
// eslint-disable-next-line no-control-regex
const CONTROLS_IN_TEXT = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u202a-\u202e\u2066-\u2069]/g;

/** Replaces control characters, so that a server cannot send commands to the terminal. Returns one line. */
export function printable(text: string): string {
  return text.replace(CONTROLS, ' ').trim();
}

/** Removes control characters except tabs and line feeds. */
export function printableText(text: string): string {
  return text.replace(CONTROLS_IN_TEXT, '');
}
