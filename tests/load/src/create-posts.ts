import { Agent, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { setTimeout } from 'node:timers/promises';

/** Sends creates and records when each was answered, which is shortly after its commit. */
export interface Creator {
  /** When each answer came, by the record's id, on the clock `performance.now()`. */
  readonly answeredAtMs: ReadonlyMap<string, number>;
  /** Answers that were not 201. */
  readonly refusedCount: number;
  /** Sends creates at an even pace, however long the answers take, and waits for all answers. */
  atPace(count: number, perSec: number): Promise<void>;
  /** Sends creates as fast as they are answered, `parallel` at a time. */
  asFastAsPossible(count: number, parallel: number): Promise<void>;
  close(): void;
}

/** Creates posts with the same body at the collection's URL. */
export function createPosts(url: string, body: string): Creator {
  const agent = new Agent({ keepAlive: true, maxSockets: 64 });
  const answeredAtMs = new Map<string, number>();
  let refusedCount = 0;

  async function create(): Promise<void> {
    const { status, answer } = await post();
    if (status === 201) answeredAtMs.set(answer.data.id, performance.now());
    else refusedCount += 1;
  }

  function post(): Promise<{ status: number | undefined; answer: { data: { id: string } } }> {
    return new Promise((resolve, reject) => {
      const headers = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) };
      const outgoing = request(url, { agent, method: 'POST', headers }, (response) => {
        json(response).then(
          (answer) => resolve({ status: response.statusCode, answer: answer as { data: { id: string } } }),
          reject,
        );
      });
      outgoing.on('error', reject);
      outgoing.end(body);
    });
  }

  return {
    answeredAtMs,
    get refusedCount() {
      return refusedCount;
    },
    async atPace(count, perSec) {
      const startedAtMs = performance.now();
      const sent: Promise<void>[] = [];
      while (sent.length < count) {
        const due = Math.min(count, Math.floor(((performance.now() - startedAtMs) * perSec) / 1000) + 1);
        while (sent.length < due) sent.push(create());
        await setTimeout(Math.max(1, startedAtMs + (sent.length * 1000) / perSec - performance.now()));
      }
      await Promise.all(sent);
    },
    async asFastAsPossible(count, parallel) {
      let left = count;
      const worker = async () => {
        while (left > 0) {
          left -= 1;
          await create();
        }
      };
      await Promise.all(Array.from({ length: parallel }, worker));
    },
    close: () => agent.destroy(),
  };
}
