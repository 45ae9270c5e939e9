import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

interface Received {
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
  readonly atMs: number;
}

/** A webhook receiver on the loopback address; `answer` decides its answers. */
export interface TestReceiver {
  readonly url: string;
  readonly received: Received[];
  answer: (response: ServerResponse, received: Received) => void;
  close(): Promise<void>;
}

/** Starts a receiver; by default it answers 200. */
export async function startReceiver(): Promise<TestReceiver> {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    text(request).then(
      (body) => {
        const one = { headers: request.headers, body, atMs: performance.now() };
        received.push(one);
        receiver.answer(response, one);
      },
      () => {},
    );
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const receiver: TestReceiver = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    answer: (response) => response.writeHead(200).end('thanks'),
    async close() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
  return receiver;
}
