/** What the document calls a class: a reader there does not care which way it goes. */
export function schemaName(className: string): string {
  return className.replace(/(Response|Dto)$/, '');
}
