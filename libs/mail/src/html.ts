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

/** A document's language and title. */
interface DocumentHead {
  /** A language tag (BCP 47). */
  readonly lang: string;
  readonly title: string;
}

/**
 * Returns HTML as a whole document (mail §2.5): mail programs guess a fragment's character set and language. What has
 * an `html` tag keeps its head.
 */
export function wholeDocument(html: string, { lang, title }: DocumentHead): string {
  const isWhole = /<html[\s>]/i.test(html);
  if (isWhole) return /^\s*<!doctype/i.test(html) ? html : `<!doctype html>\n${html}`;
  return `<!doctype html>
<html lang="${escapeHtml(lang)}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width">
<title>${escapeHtml(title)}</title>
</head>
<body>
${html.trim()}
</body>
</html>
`;
}

const linkTemplate = '<a href="{{link}}">{{link}}</a>';
