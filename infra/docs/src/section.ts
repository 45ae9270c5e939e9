/** A part of a page that is made from the code; the rest of the page is written by hand. */
export interface Section {
  /** File below docs/. */
  readonly page: string;
  readonly name: string;
  /** Markdown. */
  readonly text: () => string;
}

const begin = (name: string) => `<!-- ${name}: made by npm run docs -->`;
const end = (name: string) => `<!-- end of ${name} -->`;

/** The page with the section's text as it is now. Throws for a page that has no place for it. */
export function replaceSection(page: string, { name, page: file, text }: Section): string {
  const from = page.indexOf(begin(name));
  const to = page.indexOf(end(name));
  if (from < 0 || to < from) throw new Error(`docs/${file} has no place for ${name}: ${begin(name)} … ${end(name)}`);
  return `${page.slice(0, from)}${begin(name)}\n\n${text().trim()}\n\n${page.slice(to)}`;
}
