import { malformedParameter } from '@recordbus/errors';

/** Selects the referring records that an expansion shows (records §10.5). */
export interface ReferrerOptions {
  readonly filter: string | undefined;
  readonly sort: string | undefined;
  readonly limit: number;
  /** Whether the answer has their total number. */
  readonly hasTotal: boolean;
}

/** A name in a path of `expand`. */
export interface ExpandStep {
  readonly name: string;
  /** The options in parentheses after the name; undefined without parentheses. */
  readonly options: ReferrerOptions | undefined;
}

/** A back-relation's options without parentheses. */
export const defaultOptions: ReferrerOptions = { filter: undefined, sort: undefined, limit: 100, hasTotal: false };

const maxLimit = 1000;

export const refusedExpand = (problem: string) => malformedParameter('expand', problem);

/** Reads the paths in `expand`, each made of names with options: `comments_via_post(limit:5).author`. Throws 400. */
export const readExpandPaths = (expand: string): readonly (readonly ExpandStep[])[] =>
  splitOutside(expand, ',').map((path) => splitOutside(path.trim(), '.').map(readStep));

function readStep(text: string): ExpandStep {
  const open = text.indexOf('(');
  if (open < 0) return { name: text, options: undefined };
  const name = text.slice(0, open);
  if (!text.endsWith(')')) throw refusedExpand(`expected . or , after the options for ${JSON.stringify(name)}`);
  return { name, options: readOptions(name, text.slice(open + 1, -1)) };
}

const optionStart = /^\s*(filter|sort|limit|total)\s*:/;

/** Reads options. A part that does not begin like an option belongs to the one before it: `sort:-created,title`. */
function readOptions(name: string, text: string): ReferrerOptions {
  const values = new Map<string, string>();
  let key: string | undefined;
  for (const part of splitOutside(text, ',', { hasStrings: true })) {
    const [start, found] = optionStart.exec(part) ?? [];
    if (start === undefined || found === undefined) {
      if (key !== 'sort') throw refusedExpand(`${name} has the options filter, sort, limit and total`);
      values.set(key, `${values.get(key)},${part}`);
      continue;
    }
    if (values.has(found)) throw refusedExpand(`${name} has the option ${found} twice`);
    key = found;
    values.set(key, part.slice(start.length));
  }
  const value = (option: string) => {
    const text = values.get(option)?.trim();
    return text === '' ? undefined : text;
  };
  return {
    filter: value('filter'),
    sort: value('sort'),
    limit: readLimit(name, value('limit')),
    hasTotal: readTotal(name, value('total')),
  };
}

function readLimit(name: string, text: string | undefined): number {
  if (text === undefined) return defaultOptions.limit;
  const limit = /^\d{1,5}$/.test(text) ? Number(text) : 0;
  if (limit < 1 || limit > maxLimit) throw refusedExpand(`the limit for ${name} must be from 1 to ${maxLimit}`);
  return limit;
}

function readTotal(name: string, text: string | undefined): boolean {
  if (text !== undefined && text !== '0' && text !== '1') throw refusedExpand(`the total for ${name} must be 0 or 1`);
  return text === '1';
}

/**
 * Splits a text at a sign that is outside parentheses, in linear time. Within parentheses, strings and comments follow
 * the filter language (filters §2); with `hasStrings` everywhere.
 */
function splitOutside(text: string, sign: string, { hasStrings = false } = {}): string[] {
  const parts: string[] = [];
  let from = 0;
  let depth = 0;
  for (let at = 0; at < text.length; at += 1) {
    const char = text.charAt(at);
    const isWithin = hasStrings || depth > 0;
    if (isWithin && (char === '"' || char === "'")) at = endOfString(text, at);
    else if (isWithin && text.startsWith('//', at)) at = endOfLine(text, at);
    else if (char === '(') depth += 1;
    else if (char === ')') depth -= 1;
    else if (char === sign && depth === 0) {
      parts.push(text.slice(from, at));
      from = at + 1;
    }
    if (depth < 0) throw refusedExpand('has a ) without its (');
  }
  if (depth > 0) throw refusedExpand('has a ( without its )');
  return [...parts, text.slice(from)];
}

/** Where the closing quote is; the text's end without one. */
function endOfString(text: string, start: number): number {
  const quote = text.charAt(start);
  for (let at = start + 1; at < text.length; at += 1) {
    if (text.charAt(at) === '\\') at += 1;
    else if (text.charAt(at) === quote) return at;
  }
  return text.length;
}

function endOfLine(text: string, start: number): number {
  const end = text.indexOf('\n', start);
  return end < 0 ? text.length : end;
}
