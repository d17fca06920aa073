let now = { second: NaN, text: '' };

/** The time as headers have it (RFC 9110, section 5.6.7), made once a second. */
export function httpDate(): string {
  const second = Math.floor(Date.now() / 1_000);
  if (now.second !== second) now = { second, text: new Date(second * 1_000).toUTCString() };
  return now.text;
}
