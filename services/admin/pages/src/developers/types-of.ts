/** Returns a collection's part of the file with all types: from its interface's comment to the next collection's. */
export function typesOf(document: string, collection: string): string {
  const from = document.indexOf(`/** A record of \`${collection}\`. */`);
  const rest = from < 0 ? '' : document.slice(from);
  const to = rest.search(/\n\n\/\*\* (?:A record of `|All collection types)/);
  return to < 0 ? rest : `${rest.slice(0, to)}\n`;
}
