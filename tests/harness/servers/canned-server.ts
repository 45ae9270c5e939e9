import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** An answer; the status is 200 unless given. `cut` closes the connection instead. */
export type CannedAnswer =
  | {
      readonly status?: number;
      readonly headers?: Readonly<Record<string, string>>;
      readonly body: string | Uint8Array;
    }
  | 'cut';

/** A third party's server, on the loopback address, with answers set by the test. */
interface CannedServer extends AsyncDisposable {
  readonly url: string;
  /** Every request's method, path and body since the answers were set. */
  readonly received: readonly string[];
  /** Sets the answers by path; other paths are 404. A promise delays its answer. */
  answer(answers: Readonly<Record<string, CannedAnswer | Promise<CannedAnswer>>>): void;
}

/** Starts a server on a free port. */
export async function startCannedServer(): Promise<CannedServer> {
  const received: string[] = [];
  let answers: Parameters<CannedServer['answer']>[0] = {};
  const server = createServer(async (request, response) => {
    received.push(`${request.method} ${request.url} ${await text(request)}`.trim());
    const answer = (await answers[request.url ?? '']) ?? { status: 404, body: '' };
    if (answer === 'cut') response.destroy();
    else response.writeHead(answer.status ?? 200, { ...answer.headers }).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    received,
    answer(given) {
      answers = given;
      received.length = 0;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
