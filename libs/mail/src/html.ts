const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Escapes a text for HTML, between tags and in a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** Whether a template is HTML: it has a tag (mail §2.5). */
export const isHtml = (template: string): boolean => /<\/?[a-z][a-z0-9]*(?:\s[^<>]*)?\/?>/i.test(template);

/** Turns a plain-text template into HTML: a paragraph for each block of lines. */
export function htmlOfText(template: string): string {
  const blocks = escapeHtml(template.replaceAll('\r\n', '\n').trim()).split(/\n{2,}/);
  return blocks
    .map((block) => `<p>${block.replaceAll('\n', '<br>\n').replaceAll(/\{\{\s*link\s*\}\}/g, linkTemplate)}</p>`)
    .join('\n');
}

const linkTemplate = '<a href="{{link}}">{{link}}</a>';
