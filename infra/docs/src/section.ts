/** A page's section that is generated from the code; the rest is written by hand. */
export interface Section {
  /** The file below docs/. */
  readonly page: string;
  readonly name: string;
  /** Markdown. */
  readonly text: () => string;
}

const begin = (name: string) => `<!-- ${name}: made by npm run docs -->`;
const end = (name: string) => `<!-- end of ${name} -->`;

/** Replaces the section's text in a page. Throws for a page without the section's markers. */
export function replaceSection(page: string, { name, page: file, text }: Section): string {
  const from = page.indexOf(begin(name));
  const to = page.indexOf(end(name));
  if (from < 0 || to < from) throw new Error(`docs/${file} has no place for ${name}: ${begin(name)} … ${end(name)}`);
  return `${page.slice(0, from)}${begin(name)}\n\n${text().trim()}\n\n${page.slice(to)}`;
}
