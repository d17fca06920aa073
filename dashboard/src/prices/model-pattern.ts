const STAR = '*';

/** Whether a pattern matches a model. A star stands for any text, the empty text included. */
export function matchesPattern(pattern: string, model: string): boolean {
  const [first = '', ...rest] = pattern.split(STAR);
  const last = rest.pop();
  if (last === undefined) return pattern === model;
  if (!model.startsWith(first)) return false;
  let position = first.length;
  for (const part of rest) {
    const index = model.indexOf(part, position);
    if (index < 0) return false;
    position = index + part.length;
  }
  return model.length - last.length >= position && model.endsWith(last);
}

/** Rule of an upstream, as the API has it. */
interface Rule {
  readonly model: string;
  readonly as: string | null;
}

/** Name that an upstream with these rules gets for a requested model. */
export function sentModel(rules: readonly Rule[] | null, model: string): string {
  const rule = rules?.find((each) => matchesPattern(each.model, model));
  if (typeof rule?.as !== 'string') return model;
  const [before = '', after = ''] = rule.model.split(STAR);
  const matched = model.slice(before.length, model.length - after.length);
  return rule.as.replace(STAR, () => matched);
}
