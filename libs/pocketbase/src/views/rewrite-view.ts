import type { Directory, PocketBaseCollection } from '../rules/definitions.ts';
import { type SqlToken, scanSql } from './scan-sql.ts';
import { isKeyword } from './sql-keywords.ts';

/** A view's query in PostgreSQL's SQL, or why there is none. The product still checks the query. */
export type RewrittenView = { readonly query: string } | { readonly query: null; readonly why: string };

/** SQLite functions that PostgreSQL lacks, or that mean something else there. */
const foreign = new Set(
  'date time datetime strftime julianday unixepoch timediff printf format instr glob hex iif if json_each json_tree json_array_length json_group_array json_group_object json_type json_valid json_array json_object total typeof group_concat round rowid changes last_insert_rowid'.split(
    ' ',
  ),
);

/** Types that a cast may name. */
const types = new Set(['text', 'int', 'integer', 'real', 'numeric', 'bool', 'boolean', 'double', 'json']);

class NotRewritable extends Error {}

const maxCharacters = 20_000;

/** Rewrites a view collection's SELECT. */
export function rewriteView(sql: string, directory: Directory): RewrittenView {
  const tokens = sql.length > maxCharacters ? undefined : scanSql(sql.trim().replace(/;$/, ''));
  if (!tokens) return { query: null, why: 'a text or a comment without an end, or too long' };
  try {
    return { query: createRewriter(withoutJsonExtract(tokens), directory)() };
  } catch (error) {
    if (error instanceof NotRewritable) return { query: null, why: error.message };
    throw error;
  }
}

function createRewriter(tokens: readonly SqlToken[], directory: Directory): () => string {
  const sources = findSources(tokens, directory);
  const words = new Set(tokens.filter(({ kind }) => kind === 'word').map(({ text }) => text.toLowerCase()));

  /** The next token that is not white space. */
  const next = (from: number, step = 1): SqlToken | undefined => {
    let at = from + step;
    while (tokens[at]?.kind === 'space') at += step;
    return tokens[at];
  };
  const isSign = (token: SqlToken | undefined, ...texts: readonly string[]) =>
    token?.kind === 'sign' && texts.includes(token.text);

  const several = findBracketsWithCommas(tokens);
  const hasSeveralArguments = (index: number) => {
    let open = index + 1;
    while (tokens[open]?.kind === 'space') open += 1;
    return several.has(open);
  };

  return () =>
    tokens
      .map((token, index) => rewriteToken(token, index))
      .join('')
      .trim();

  function rewriteToken(token: SqlToken, index: number): string {
    switch (token.kind) {
      case 'space':
        return token.text;
      case 'string':
        return `'${token.text.replaceAll("'", "''")}'`;
      case 'number':
        return isBoolTest(index) ? String(token.text === '1') : token.text;
      case 'sign':
        return token.text === '==' ? '=' : token.text;
      case 'quoted':
        return rewriteQuoted(token.text, index);
      default:
        return rewriteWord(token.text, index);
    }
  }

  function rewriteWord(word: string, index: number): string {
    const lower = word.toLowerCase();
    if (isSign(next(index), '(') && !isKeyword(lower)) return rewriteFunction(lower, index);
    if (lower === 'like') return 'ilike';
    if (lower === 'glob' || lower === 'regexp' || lower === 'match') throw new NotRewritable(`${word} is SQLite's`);
    if (lower === 'rowid' || lower === '_rowid_') throw new NotRewritable(`${word} is SQLite's`);
    const isMember = isSign(next(index, -1), '.');
    if (isKeyword(lower) && !isMember) return word;
    return types.has(lower) && !sources.names.has(lower) ? lower : nameOf(word);
  }

  function rewriteFunction(name: string, index: number): string {
    if (name === 'ifnull') return 'coalesce';
    if (name === 'json_extract') throw new NotRewritable('json_extract of something other than a field and a path');
    if (foreign.has(name)) throw new NotRewritable(`${name}() is SQLite's`);
    if ((name === 'max' || name === 'min') && hasSeveralArguments(index)) return name === 'max' ? 'greatest' : 'least';
    return name;
  }

  /** SQLite reads an unknown name in double quotes as a text. */
  function rewriteQuoted(text: string, index: number): string {
    if (text === '*' && isSign(next(index, -1), '(') && isSign(next(index), ')')) return '*';
    const isName =
      words.has(text.toLowerCase()) ||
      sources.names.has(text.toLowerCase()) ||
      isSign(next(index), '.') ||
      isSign(next(index, -1), '.') ||
      next(index, -1)?.text.toLowerCase() === 'as';
    return isName ? nameOf(text) : `'${text.replaceAll("'", "''")}'`;
  }

  function nameOf(name: string): string {
    const renamed = sources.names.get(name.toLowerCase());
    if (renamed === null) throw new NotRewritable(`the field ${name} has several names here`);
    return quoteName(renamed ?? name);
  }

  /** Whether a number is compared with a bool field. */
  function isBoolTest(index: number): boolean {
    const { text } = tokens[index] ?? { text: '' };
    if (text !== '0' && text !== '1') return false;
    let at = index - 1;
    while (tokens[at]?.kind === 'space') at -= 1;
    return isSign(tokens[at], '=', '==', '!=', '<>') && sources.bools.has(next(at, -1)?.text.toLowerCase() ?? '');
  }
}

/** The opening brackets that have a comma directly within them. */
function findBracketsWithCommas(tokens: readonly SqlToken[]): Set<number> {
  const open: number[] = [];
  const found = new Set<number>();
  for (const [index, { kind, text }] of tokens.entries()) {
    if (kind !== 'sign') continue;
    const last = open.at(-1);
    if (text === '(') open.push(index);
    else if (text === ')') open.pop();
    else if (text === ',' && last !== undefined) found.add(last);
  }
  return found;
}

/** Writes `json_extract(meta, '$.a.b')` as `(meta #>> '{a,b}')`, a text. */
function withoutJsonExtract(tokens: readonly SqlToken[]): SqlToken[] {
  const solid = tokens.map((token, index) => ({ token, index })).filter(({ token }) => token.kind !== 'space');
  const result = [...tokens];
  for (const [at, { token, index }] of solid.entries()) {
    if (token.kind !== 'word' || token.text.toLowerCase() !== 'json_extract') continue;
    const following = solid.slice(at + 1, at + 8).map((one) => one.token);
    const isName = (part: SqlToken | undefined) => part?.kind === 'word' || part?.kind === 'quoted';
    const length = following[2]?.text === '.' ? 3 : 1;
    const path = following.slice(1, 1 + length);
    const [comma, keys, close] = following.slice(1 + length);
    const isPlain = isName(path[0]) && isName(path.at(-1)) && comma?.text === ',' && close?.text === ')';
    const match = keys?.kind === 'string' && isPlain ? /^\$((?:\.\w+|\[\d+\])+)$/.exec(keys.text) : null;
    const end = solid[at + 4 + length]?.index;
    if (!match?.[1] || end === undefined) continue;
    const names = match[1].split(/[.[\]]+/).filter(Boolean);
    const empty = (from: number, to: number) => {
      for (let other = from; other <= to; other += 1) result[other] = { kind: 'space', text: '' };
    };
    empty(index, end);
    const sign = (text: string): SqlToken => ({ kind: 'sign', text });
    const parts: SqlToken[] = [
      sign('('),
      ...path,
      sign(' #>> '),
      { kind: 'string', text: `{${names.join(',')}}` },
      sign(')'),
    ];
    for (const [offset, part] of parts.entries()) result[index + offset] = part;
  }
  return result;
}

const quoteName = (name: string): string =>
  /^[a-z_][a-z0-9_]*$/.test(name) && !isKeyword(name) ? name : `"${name.replaceAll('"', '""')}"`;

interface Sources {
  /** The names here, by PocketBase's in lower case; null if two collections have different ones. */
  readonly names: ReadonlyMap<string, string | null>;
  /** Fields that are bools in all collections that have them. */
  readonly bools: ReadonlySet<string>;
}

/** The collections that the query may read: those that it names. */
function findSources(tokens: readonly SqlToken[], directory: Directory): Sources {
  const named = new Set<PocketBaseCollection>();
  for (const { kind, text } of tokens) {
    const collection = kind === 'word' || kind === 'quoted' ? directory.find(text) : undefined;
    if (collection?.name.toLowerCase() === text.toLowerCase()) named.add(collection);
  }
  const names = new Map<string, string | null>();
  const add = (from: string, to: string) => {
    const known = names.get(from.toLowerCase());
    names.set(from.toLowerCase(), known === undefined || known === to ? to : null);
  };
  for (const collection of named)
    for (const { name } of collection.fields) add(name, directory.fieldNameOf(collection, name));
  for (const collection of named) {
    names.delete(collection.name.toLowerCase());
    add(collection.name, directory.nameOf(collection));
  }
  const fields = [...named].flatMap((collection) => collection.fields);
  const bools = fields.filter(
    ({ name, type }) => type === 'bool' && fields.every((other) => other.name !== name || other.type === 'bool'),
  );
  return { names, bools: new Set(bools.map(({ name }) => name.toLowerCase())) };
}
