import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** What is answered; 200 unless a status is given. `cut` ends the connection instead. */
export type CannedAnswer =
  | { readonly status?: number; readonly headers?: Readonly<Record<string, string>>; readonly body: string }
  | 'cut';

/** A server of somebody else, on the loopback address, that says what it is told to. */
interface CannedServer extends AsyncDisposable {
  readonly url: string;
  /** Method, path and body of every request since the answers were set. */
  readonly asked: readonly string[];
  /** By path; everything else is 404. */
  answer(answers: Readonly<Record<string, CannedAnswer>>): void;
}

/** Starts one on a free port. */
export async function startCannedServer(): Promise<CannedServer> {
  const asked: string[] = [];
  let answers: Readonly<Record<string, CannedAnswer>> = {};
  const server = createServer(async (request, response) => {
    asked.push(`${request.method} ${request.url} ${await text(request)}`.trim());
    const answer = answers[request.url ?? ''] ?? { status: 404, body: '' };
    if (answer === 'cut') response.destroy();
    else response.writeHead(answer.status ?? 200, { ...answer.headers }).end(answer.body);
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    asked,
    answer(given) {
      answers = given;
      asked.length = 0;
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
