/** @throws Error that names the option */
export function parsePositive(name: string, text: string): number {
  const value = Number(text);
  if (!(value > 0)) throw new Error(`--${name} must be a number above 0: ${text}`);
  return value;
}

/** @throws Error that names the option */
export function parseCount(name: string, text: string): number {
  const value = parsePositive(name, text);
  if (!Number.isInteger(value)) throw new Error(`--${name} must be an integer: ${text}`);
  return value;
}
