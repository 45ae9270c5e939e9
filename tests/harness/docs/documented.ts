import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import type { TestContext } from 'node:test';
import { type Answer, type Client, createClient, type Sending } from '../clients/client.ts';
import { eventually } from '../eventually.ts';
import type { MailServer } from '../servers/mail-server.ts';
import type { Target } from '../stacks/target.ts';
import { bodyDifferences, headerDifferences, textsIn } from './documented-answer.ts';

/** A request on a page and its documented answer. */
export interface Example {
  readonly request: string;
  /** The words after `json` or `http` at the answer: a status, or a name for what the answer has. */
  readonly words: readonly string[];
  readonly answer: string | undefined;
}

const block = /^```(http|json)([^\n]*)\n(.*?)\n```$/gms;

/**
 * Runs a page's examples in order. An `http` block is a request. The block right after it is the answer: `json` with a
 * status unless it is 200, or 201 for a POST, or `http` with a status line, headers and a body. A name after `json` or
 * `http` is for the following examples: `<name>` is the answer's id, `<name.token>` any text in its data,
 * `<name.etag>` its ETag. `<mail.token>` and `<mail.code>` are in the newest mail.
 * documented-answer.ts says what `…` in an answer means.
 */
export async function runExamples(t: TestContext, target: Target, page: string, given: Given = {}): Promise<void> {
  const text = readFileSync(new URL(`../../../docs/${page}`, import.meta.url), 'utf8');
  const names = new Map(given.names);
  const examples = readExamples(text);
  assert.ok(examples.length > 0, `${page} has no examples`);
  const mails = given.mail && namesFromMails(given.mail, text);
  let patience: Patience = {};
  for (const example of examples)
    await t.test(`docs/${page}: ${example.request.split('\n')[0]}`, async () => {
      try {
        await mails?.name(example, names, patience);
        await runExample(example, names, target, patience);
      } catch (error) {
        patience = afterFailure;
        throw error;
      }
    });
}

/** How long an example's answer may take; by default as long as `eventually` waits. */
type Patience = NonNullable<Parameters<typeof eventually>[2]>;

/** What follows a failed example often has no answer that fits. The page's test would last for minutes. */
const afterFailure: Patience = { timeoutMs: 2000 };

/** What a page needs from its test. */
interface Given {
  /** Values for names that no answer has. */
  readonly names?: Iterable<readonly [name: string, value: string]>;
  /** The server to which the stack sends its mails. */
  readonly mail?: Pick<MailServer, 'received'>;
}

/**
 * Names the token or the code in a mail for the example that uses it: the newest since the last one that was used. Mails
 * to addresses that are not on the page may be late ones from another page.
 */
function namesFromMails({ received }: Pick<MailServer, 'received'>, page: string) {
  let used = 0;
  return {
    async name({ request }: Example, names: Map<string, string>, patience: Patience): Promise<void> {
      const [, part] = /<mail\.(token|code)>/.exec(request) ?? [];
      if (part !== 'token' && part !== 'code') return;
      const find = () =>
        received
          .slice(used)
          .findLast((mail) => mail[part] && mail.recipients.some((address) => page.includes(address)))?.[part];
      names.set(`mail.${part}`, await eventually(`a mail with a ${part}`, find, patience));
      used = received.length;
    },
  };
}

/** Reads a page's examples, in order. */
export function readExamples(text: string): Example[] {
  const blocks = [...text.matchAll(block)];
  return blocks.flatMap((found, index) => {
    const [whole, kind, , request = ''] = found;
    if (kind !== 'http' || isAnswer(request)) return [];
    const next = blocks[index + 1];
    const isNext = next && text.slice(found.index + whole.length, next.index).trim() === '';
    const isAnswered = isNext && (next[1] === 'json' || isAnswer(next[3] ?? ''));
    const words = isAnswered ? (next[2] ?? '').trim().split(' ').filter(Boolean) : [];
    return [{ request, words, answer: isAnswered ? next[3] : undefined }];
  });
}

const isAnswer = (text: string): boolean => text.startsWith('HTTP/1.1 ');

/** Sends a request and compares the answer; `names` has the texts from earlier answers. */
export async function runExample(
  example: Example,
  names: Map<string, string>,
  target: Caller,
  patience: Patience = {},
): Promise<void> {
  const { request, words } = example;
  const fill = (text: string) => text.replace(/<(\w+(?:\.\w+)*)>/g, (whole, name: string) => names.get(name) ?? whole);
  const { method, send } = await readRequest(fill(request), target);
  const expected = expectedAnswer(fill(example.answer ?? ''), words, method);
  const faultsOf = ({ status, text, headers, json }: Answer): readonly string[] => {
    assert.equal(status, expected.status, text);
    const wrong = expected.headers.flatMap(([name, value]) =>
      headerDifferences(name, value, headers[name.toLowerCase()]),
    );
    return [...wrong, ...(expected.body === '' ? [] : bodyDifferences(expected.body, json ?? text))];
  };
  // What a reader sees may come later than the write: a revoked key, a delivery, a finished job.
  const isAwaited = (method === 'GET' && example.answer !== undefined) || expected.status === 401;
  const answer = isAwaited
    ? await answerThat(send, (it) => it.status === expected.status && !faultsOf(it).length, patience)
    : await send();
  assert.deepEqual(faultsOf(answer), []);
  const name = words.find((word) => !/^\d+$/.test(word));
  if (!name) return;
  const { etag } = answer.headers;
  if (etag) names.set(`${name}.etag`, etag);
  for (const [path, text] of textsIn(answer.json)) names.set(path === 'id' ? name : `${name}.${path}`, text);
}

/** Sends a request until the answer fits, or time is up, and returns the last answer. */
async function answerThat(
  send: () => Promise<Answer>,
  fits: (answer: Answer) => boolean,
  patience: Patience,
): Promise<Answer> {
  let answer = await send();
  if (fits(answer)) return answer;
  const check = async () => {
    answer = await send();
    return fits(answer);
  };
  await eventually('the documented answer', check, patience).catch(() => {});
  return answer;
}

/** Reads a request's text: line, headers, and a body after an empty line. */
export async function readRequest(
  request: string,
  target: Caller,
): Promise<{ method: string; send: () => Promise<Answer> }> {
  const [head, body] = splitHead(request);
  const [line = '', ...headerLines] = head.split('\n');
  const [method = '', path = ''] = line.split(/ (.*)/s);
  const { Authorization: authorization, ...headers } = Object.fromEntries(headerLines.map(readHeader));
  const client = await callerOf(target, authorization);
  const type = headers['Content-Type'];
  const sending: Sending =
    body === undefined
      ? { headers }
      : type === undefined
        ? { headers, body: JSON.parse(body) }
        : { headers, rawBody: type.startsWith('multipart/') ? body.replaceAll('\n', '\r\n') : body };
  return { method, send: () => client.send(method, encodePath(path), sending) };
}

interface Expected {
  readonly status: number;
  readonly headers: readonly (readonly [name: string, value: string])[];
  /** JSON or another text; empty for any. */
  readonly body: string;
}

function expectedAnswer(answer: string, words: readonly string[], method: string): Expected {
  const status = Number(words.find((word) => /^\d+$/.test(word)) ?? (method === 'POST' ? 201 : 200));
  if (!isAnswer(answer)) return { status, headers: [], body: answer };
  const [head, body = ''] = splitHead(answer);
  const [line = '', ...headers] = head.split('\n');
  return { status: Number(line.split(' ')[1]), headers: headers.map(readHeader), body };
}

function splitHead(text: string): [head: string, body: string | undefined] {
  const [head = '', body] = text.split(/\n\n(.*)/s);
  return [head, body];
}

function readHeader(line: string): [name: string, value: string] {
  const [name = '', value = ''] = line.split(/: (.*)/s);
  return [name, value];
}

type Caller = Pick<Target, 'admin' | 'guest' | 'url'>;

/** The client for a request's credentials: the admin's, a token or a service key, or none. */
async function callerOf(target: Caller, authorization: string | undefined): Promise<Client> {
  if (authorization === 'Bearer <admin>') return target.admin();
  return authorization === undefined ? target.guest : createClient(target.url, authorization.slice('Bearer '.length));
}

/** Encodes a query's values, which the examples do not encode, to be readable. `&&` is part of a value. */
function encodePath(path: string): string {
  const [resource = '', query] = path.split(/\?(.*)/s);
  if (query === undefined) return resource;
  const parts = query
    .split(/&(?=\w+=)/)
    .map((part) => part.split(/=(.*)/s).map(encodeURIComponent).slice(0, 2).join('='));
  return `${resource}?${parts.join('&')}`;
}
