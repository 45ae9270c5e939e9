/** A request of PocketBase's own API tests, and what it must answer. */
export interface Scenario {
  /** The test function and the scenario's number in it. */
  readonly id: string;
  readonly method: string;
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: string;
  readonly status: number;
  /** Texts that the body has. */
  readonly has?: readonly string[];
  /** Texts that the body does not have. */
  readonly lacks?: readonly string[];
}

/** The scenarios of a file, and how many need more than a request: another app, a hook, a body from code. */
export interface ReadScenarios {
  readonly scenarios: readonly Scenario[];
  readonly left: number;
}

/** A literal, or a call with literals, in an expression that makes a text. */
const part = /^(?:url\.QueryEscape\()?("(?:[^"\\]|\\.)*"|`[^`]*`)\)?\s*(?:\+\s*|$)/;
const textOf = (source: string): string =>
  source.startsWith('`') ? source.slice(1, -1) : (JSON.parse(source) as string);
/** The text that an expression makes; undefined if it needs more than literals. */
function evaluate(expression: string): string | undefined {
  let text = '';
  for (let rest = expression.trim(); rest !== ''; ) {
    const [whole, source] = part.exec(rest) ?? [];
    if (whole === undefined || source === undefined) return undefined;
    text += whole.startsWith('url.') ? encodeURIComponent(textOf(source)) : textOf(source);
    rest = rest.slice(whole.length);
  }
  return text;
}

const listOf = (source: string): string[] =>
  (source.match(/"(?:[^"\\]|\\.)*"|`[^`]*`/g) ?? []).map((text) => textOf(text));

/** Reads the scenarios in a Go file of PocketBase's API tests. */
export function readScenarios(source: string): ReadScenarios {
  const scenarios: Scenario[] = [];
  let left = 0;
  for (const part of source.split(/^func (?=Test)/m).slice(1)) {
    const name = part.slice(0, part.indexOf('('));
    let number = 0;
    for (const block of blocksOf(part)) {
      number += 1;
      const read = readBlock(`${name} ${number}`, block);
      if (read) scenarios.push(read);
      else left += 1;
    }
  }
  return { scenarios, left };
}

/** The composite literals that begin with a name, each on its own. */
function blocksOf(source: string): string[] {
  const blocks: string[] = [];
  const opening = /\{\s*Name:/g;
  for (let found = opening.exec(source); found; found = opening.exec(source)) {
    const end = endOf(source, found.index);
    blocks.push(source.slice(found.index + 1, end));
    opening.lastIndex = end;
  }
  return blocks;
}

/** The place of the brace that closes the one at `from`. */
function endOf(source: string, from: number): number {
  let depth = 0;
  for (let at = from; at < source.length; at += 1) {
    const skipped = /^(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`|'(?:[^'\\]|\\.)+'|\/\/.*)/.exec(source.slice(at, at + 5000));
    if (skipped) at += skipped[0].length - 1;
    else if ('{(['.includes(source[at] ?? '')) depth += 1;
    else if ('})]'.includes(source[at] ?? '') && --depth === 0) return at;
  }
  return source.length;
}

/** The members of a composite literal, by name. */
function membersOf(block: string): Map<string, string> {
  const members = new Map<string, string>();
  const member = /^\s*(\w+):\s*/gm;
  for (let found = member.exec(block); found; found = member.exec(block)) {
    const from = member.lastIndex;
    let at = from;
    for (; at < block.length && block[at] !== ','; at += 1) {
      const skipped = /^(?:"(?:[^"\\\n]|\\.)*"|`[^`]*`)/.exec(block.slice(at, at + 5000));
      if (skipped) at += skipped[0].length - 1;
      else if ('{(['.includes(block[at] ?? '')) at = endOf(block, at);
    }
    members.set(found[1] ?? '', block.slice(from, at).trim());
    member.lastIndex = at;
  }
  return members;
}

function readBlock(id: string, block: string): Scenario | undefined {
  const members = membersOf(block);
  const [method, url, body, headers] = ['Method', 'URL', 'Body', 'Headers'].map((name) => members.get(name));
  const status = Number(members.get('ExpectedStatus'));
  if (!method || !status || members.has('TestAppFactory') || members.has('BeforeTestFunc')) return undefined;
  const path = evaluate(url ?? '');
  const sent = body === undefined || body === 'nil' ? undefined : readBody(body);
  if (!path || sent === null) return undefined;
  const given = headers === undefined ? [] : listOf(headers);
  const [has, lacks] = ['ExpectedContent', 'NotExpectedContent'].map((name) => listOf(members.get(name) ?? ''));
  return {
    id,
    method: method.replace('http.Method', '').toUpperCase(),
    path,
    ...(given.length > 0 && {
      headers: Object.fromEntries(given.flatMap((text, n) => (n % 2 === 0 ? [[text, given[n + 1] ?? '']] : []))),
    }),
    ...(sent !== undefined && { body: sent }),
    status,
    ...(has && has.length > 0 && { has }),
    ...(lacks && lacks.length > 0 && { lacks }),
  };
}

/** The body's text; null if code makes it. */
function readBody(source: string): string | null {
  const expression = /^strings\.NewReader\(\s*([\s\S]*?),?\s*\)$/.exec(source)?.[1];
  return expression === undefined ? null : (evaluate(expression) ?? null);
}
