import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type Answer, type Client, createClient, type Sending } from './client.ts';
import { type JsonObject, objectAt } from './json.ts';
import { differences, is, Matcher } from './matching.ts';
import type { Target } from './target.ts';

/** A request on a page and its documented answer. */
export interface Example {
  readonly request: string;
  /** The words after `json` at the answer: a status, or a name for the record's id. */
  readonly words: readonly string[];
  readonly answer: string | undefined;
}

const block = /^```(http|json)([^\n]*)\n(.*?)\n```$/gms;

/**
 * Runs a page's examples in order. An `http` block is a request. A `json` block right after it is the answer, with a
 * status unless it is 200, or 201 for a POST, or with a name by which the following examples use the record's id
 * (`<name>`) and a service key (`<name_key>`). `…` at a text's end matches the rest. Times match any time.
 */
export async function runExamples(t: TestContext, target: Target, page: string): Promise<void> {
  const text = readFileSync(new URL(`../../docs/${page}`, import.meta.url), 'utf8');
  const names = new Map<string, string>();
  const examples = readExamples(text);
  assert.ok(examples.length > 0, `${page} has no examples`);
  for (const example of examples)
    await t.test(`docs/${page}: ${example.request.split('\n')[0]}`, () => runExample(example, names, target));
}

/** Reads a page's examples, in order. */
export function readExamples(text: string): Example[] {
  const blocks = [...text.matchAll(block)];
  return blocks.flatMap((found, index) => {
    const [whole, kind, , request = ''] = found;
    if (kind !== 'http') return [];
    const next = blocks[index + 1];
    const isAnswered = next?.[1] === 'json' && text.slice(found.index + whole.length, next.index).trim() === '';
    const words = isAnswered ? (next[2] ?? '').trim().split(' ').filter(Boolean) : [];
    return [{ request, words, answer: isAnswered ? next[3] : undefined }];
  });
}

/** Sends a request and compares the answer; `names` has the record ids from earlier answers. */
export async function runExample(
  { request, words, answer }: Example,
  names: Map<string, string>,
  target: Caller,
): Promise<void> {
  const fill = (text: string) => text.replace(/<(\w+)>/g, (whole, name: string) => names.get(name) ?? whole);
  const [head = '', ...rest] = request.split('\n\n');
  const [line = '', ...headerLines] = fill(head).split('\n');
  const [method = '', path = ''] = line.split(/ (.*)/s);
  const headers = Object.fromEntries(headerLines.map((header) => header.split(': ', 2)));
  const { Authorization: authorization, ...others } = headers;
  const client = await callerOf(target, authorization);
  const sending: Sending = { headers: others, ...(rest.length > 0 && { body: JSON.parse(fill(rest.join('\n\n'))) }) };
  const refusal = words.find((word) => /^\d+$/.test(word));
  const send = () => client.send(method, encodePath(path), sending);
  const { status, json, text } = await (refusal === '401' ? eventuallyRefused(send) : send());
  assert.equal(status, refusal ? Number(refusal) : method === 'POST' ? 201 : 200, text);
  if (answer === undefined) return;
  assert.deepEqual(differences(json, expectedOf(fill(answer))), []);
  const name = words.find((word) => !/^\d+$/.test(word));
  const { id, key } = name ? objectAt(json as JsonObject, 'data') : {};
  if (name) names.set(name, String(id));
  if (name && typeof key === 'string') names.set(`${name}_key`, key);
}

/** Sends a request until its credentials are refused: a revoked key ends everywhere within a second. */
async function eventuallyRefused(send: () => Promise<Answer>): Promise<Answer> {
  const untilMs = performance.now() + 1000;
  for (;;) {
    const answer = await send();
    if (answer.status === 401 || performance.now() > untilMs) return answer;
  }
}

type Caller = Pick<Target, 'admin' | 'guest' | 'url'>;

/** The client for a request's credentials: the admin's, a service key, or none. */
async function callerOf(target: Caller, authorization: string | undefined): Promise<Client> {
  if (authorization === 'Bearer <admin>') return target.admin();
  return authorization === undefined ? target.guest : createClient(target.url, authorization.slice('Bearer '.length));
}

/** Turns a page's answer into the pattern that the real answer has to match. */
export const expectedOf = (answer: string): unknown => JSON.parse(answer, matcherOf);

/** Encodes a query's values: in the examples they are not URL-encoded, to be readable. */
function encodePath(path: string): string {
  const [resource = '', query] = path.split(/\?(.*)/s);
  if (query === undefined) return resource;
  const parts = query.split('&').map((part) => part.split(/=(.*)/s).map(encodeURIComponent).slice(0, 2).join('='));
  return `${resource}?${parts.join('&')}`;
}

function matcherOf(key: string, value: unknown): unknown {
  if (['at', 'created', 'updated', 'started_at', 'created_at', 'updated_at'].includes(key) && typeof value === 'number')
    return is.now;
  if (typeof value !== 'string' || !value.endsWith('…')) return value;
  const start = value.slice(0, -1);
  if (start === '0198') return is.uuidV7;
  return new Matcher(`a text that begins with ${start}`, (text) => typeof text === 'string' && text.startsWith(start));
}
