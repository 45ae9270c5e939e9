import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { setTimeout as pause } from 'node:timers/promises';
import { type Client, createClient } from '../harness/clients/client.ts';
import { file, multipart } from '../harness/clients/multipart.ts';
import { committedIds } from '../harness/clients/write-burst.ts';
import { at, textAt } from '../harness/json.ts';
import { firstAdmin, userCollection } from '../harness/stacks/stack.ts';
import { sendUntilAnswered, type Tally } from './requests.ts';

/** Callers that do everything except plain writes, one thing after the other. */
export interface Callers {
  readonly done: Readonly<Record<'reads' | 'refreshes' | 'signIns' | 'uploads' | 'batches', number>>;
  /** Answers that are not as they should be. */
  readonly wrong: readonly string[];
  /** Ends them, and checks that the sessions from before the upgrade are still valid, and that every file is whole. */
  stop(): Promise<void>;
}

const pauseMs = 100;

/** Starts the callers. */
export async function startCallers(tally: Tally, url: string): Promise<Callers> {
  const done = { reads: 0, refreshes: 0, signIns: 0, uploads: 0, batches: 0 };
  const wrong: string[] = [];
  const guest = createClient(url);
  const email = `uma.${randomBytes(4).toString('hex')}@example.com`;
  const credentials = { email, password: firstAdmin.password };
  const session = await guest.post(`/api/v1/auth/${userCollection}/register`, credentials);
  const oldToken = textAt(session, 'token');
  let token = oldToken;
  const files = new Map<string, string>();
  let isOver = false;
  const asUser = (): Client => createClient(url, token);

  async function read(): Promise<void> {
    const { status, json } = await sendUntilAnswered(tally, guest, 'GET', '/api/v1/notes?perPage=20&sort=-created');
    if (status !== 200 || !Array.isArray(at(json, 'data'))) wrong.push(`a list was ${status}`);
    done.reads += 1;
  }

  async function refresh(): Promise<void> {
    const { status, json, text } = await sendUntilAnswered(tally, asUser(), 'POST', '/api/v1/auth/refresh');
    if (status === 200) token = textAt(json, 'data.token');
    else wrong.push(`a refresh was ${status} ${text}`);
    done.refreshes += 1;
  }

  async function signIn(): Promise<void> {
    const path = `/api/v1/auth/${userCollection}/login`;
    const { status, text } = await sendUntilAnswered(tally, guest, 'POST', path, { body: credentials });
    if (status !== 200) wrong.push(`a sign-in was ${status} ${text}`);
    done.signIns += 1;
    await pause(1000);
  }

  async function upload(): Promise<void> {
    const content = randomBytes(1500).toString('hex');
    const { rawBody, headers } = multipart(file('paper', 'paper.txt', content));
    const key = { 'Idempotency-Key': randomBytes(8).toString('hex') };
    const sending = { rawBody, headers: { ...headers, ...key } };
    const { status, json, text } = await sendUntilAnswered(tally, asUser(), 'POST', '/api/v1/papers', sending);
    if (status !== 201) return void wrong.push(`an upload was ${status} ${text}`);
    const path = `/api/v1/files/papers/${textAt(json, 'data.id')}/${textAt(json, 'data.paper')}`;
    files.set(path, content);
    await download(path, content);
    done.uploads += 1;
  }

  async function download(path: string, content: string): Promise<void> {
    const { status, text } = await sendUntilAnswered(tally, guest, 'GET', path);
    if (status !== 200 || text !== content) wrong.push(`${path} was ${status} with ${text.length} bytes`);
  }

  async function batch(): Promise<void> {
    const operations = [1, 2, 3].map((value) => ({ op: 'create', collection: 'drafts', data: { value } }));
    const key = { 'Idempotency-Key': randomBytes(8).toString('hex') };
    const sending = { body: { operations }, headers: key };
    const first = await sendUntilAnswered(tally, asUser(), 'POST', '/api/v1/batch', sending);
    const again = await sendUntilAnswered(tally, asUser(), 'POST', '/api/v1/batch', sending);
    if (first.status !== 200 || again.text !== first.text) wrong.push(`a batch was ${first.status} ${first.text}`);
    done.batches += 1;
  }

  async function repeat(work: () => Promise<void>): Promise<void> {
    while (!isOver) {
      await work().catch((error: Error) => void tally.failures.push(error.message));
      await pause(pauseMs);
    }
  }

  const running = Promise.all([read, read, refresh, signIn, upload, batch].map(repeat));
  return {
    done,
    wrong,
    async stop() {
      isOver = true;
      await running;
      for (const each of [oldToken, token]) {
        const { status } = await createClient(url, each).send('GET', `/api/v1/auth/${userCollection}/sessions`);
        assert.equal(status, 200, 'a session ended');
      }
      for (const [path, content] of files) await download(path, content);
      assert.equal((await committedIds(guest, 'drafts')).size, done.batches * 3);
    },
  };
}
