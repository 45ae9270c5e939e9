/** An SQLite statement's part. White space and comments become one space. */
export interface SqlToken {
  readonly kind: 'word' | 'quoted' | 'string' | 'number' | 'sign' | 'space';
  /** Without its quotes. */
  readonly text: string;
}

const closing: Readonly<Record<string, string>> = { '"': '"', '`': '`', '[': ']', "'": "'" };
const signs = ['==', '!=', '<>', '<=', '>=', '||', '<<', '>>', '->>', '->'];

const isWordStart = (char: string) => /^[\p{L}_]$/u.test(char);
const isWordPart = (char: string) => /^[\p{L}\p{N}_$]$/u.test(char);

/** Splits SQLite's SQL into tokens, in linear time; undefined for a quote or a comment without an end. */
export function scanSql(sql: string): SqlToken[] | undefined {
  const tokens: SqlToken[] = [];
  let at = 0;
  while (at < sql.length) {
    const start = at;
    const char = sql.charAt(at);
    const close = closing[char];
    if (sql.startsWith('--', at) || sql.startsWith('/*', at)) {
      const end = sql.startsWith('--', at) ? sql.indexOf('\n', at) : sql.indexOf('*/', at + 2);
      if (end < 0 && char === '/') return undefined;
      at = end < 0 ? sql.length : end + (char === '/' ? 2 : 1);
      add('space', ' ');
    } else if (char.trim() === '') {
      while (at < sql.length && sql.charAt(at).trim() === '') at += 1;
      add('space', ' ');
    } else if (close !== undefined) {
      const text = takeQuoted(close);
      if (text === undefined) return undefined;
      add(char === "'" ? 'string' : 'quoted', text);
    } else if (isWordStart(char)) {
      while (at < sql.length && isWordPart(sql.charAt(at))) at += 1;
      add('word', sql.slice(start, at));
    } else if (char >= '0' && char <= '9') {
      while (at < sql.length && /^[0-9.]$/.test(sql.charAt(at))) at += 1;
      add('number', sql.slice(start, at));
    } else {
      const sign = signs.find((known) => sql.startsWith(known, at)) ?? char;
      at += sign.length;
      add('sign', sign);
    }
  }
  return tokens;

  function add(kind: SqlToken['kind'], text: string): void {
    if (kind !== 'space' || tokens.at(-1)?.kind !== 'space') tokens.push({ kind, text });
  }

  /** A doubled quote stands for itself. */
  function takeQuoted(close: string): string | undefined {
    let text = '';
    at += 1;
    while (at < sql.length) {
      const isClose = sql.charAt(at) === close;
      if (isClose && sql.charAt(at + 1) !== close) {
        at += 1;
        return text;
      }
      text += sql.charAt(at);
      at += isClose ? 2 : 1;
    }
    return undefined;
  }
}
