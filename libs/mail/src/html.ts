const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
};

/** Text as it can stand in HTML, between tags and in a quoted attribute. */
export const escapeHtml = (text: string): string => text.replace(/[&<>"']/g, (character) => entities[character] ?? '');

/** Is this template written as HTML? One that is not becomes HTML line by line. */
export const isHtml = (template: string): boolean => /<\/?[a-z][a-z0-9]*(?:\s[^<>]*)?\/?>/i.test(template);

/** Wraps a template that is plain text as HTML: a paragraph for each block of lines. */
export function htmlOfText(template: string): string {
  const blocks = escapeHtml(template.replaceAll('\r\n', '\n').trim()).split(/\n{2,}/);
  return blocks
    .map((block) => `<p>${block.replaceAll('\n', '<br>\n').replaceAll(/\{\{\s*link\s*\}\}/g, linkTemplate)}</p>`)
    .join('\n');
}

const linkTemplate = '<a href="{{link}}">{{link}}</a>';

/** What somebody reads who does not see the HTML: its text, with the addresses that its links lead to. */
export function textOfHtml(template: string): string {
  return template
    .replace(/<(style|script|head|title)\b[^>]*>[\s\S]*?<\/\1\s*>/gi, '')
    .replace(/<!--[\s\S]*?-->/g, '')
    .replace(/\s+/g, ' ')
    .replace(/<a\b[^>]*?\bhref\s*=\s*(?:"([^"]*)"|'([^']*)')[^>]*>(.*?)<\/a\s*>/gi, linkText)
    .replace(/<br\b[^>]*>|<\/(?:p|div|h[1-6]|li|tr|table|ul|ol|blockquote)\s*>/gi, '\n')
    .replace(/<[^>]*>/g, '')
    .replace(/&(amp|lt|gt|quot|#39|nbsp);/g, (_, name: string) => characters[name] ?? '')
    .replace(/ *\n */g, '\n')
    .replace(/\n{3,}/g, '\n\n')
    .trim();
}

const characters: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', '#39': "'", nbsp: ' ' };

function linkText(_: string, double: string | undefined, single: string | undefined, label: string): string {
  const target = double ?? single ?? '';
  return label.trim() === target.trim() ? target : `${label} (${target})`;
}
