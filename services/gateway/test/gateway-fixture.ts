import { createHash } from 'node:crypto';
import { connect } from 'node:net';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { after, before, describe } from 'node:test';
import { declare, testService } from './test-service.ts';
import { quiet, type RunningGateway, topologies } from './topologies.ts';

export const mebibyte = 1024 * 1024;
/** Far more than streaming's garbage, so that a buffered body would show. */
export const streamedMebibytes = 120;

export interface GatewayFixture {
  readonly url: string;
  readonly port: number;
  get(path: string, headers?: Record<string, string>): Promise<Response>;
  /** Whether the service saw its slow route's client disconnect. */
  sawDisconnect(): boolean;
}

/** Describes tests that run with the services in the gateway's process, and with the services over HTTP. */
export function describeGateway(title: string, declareTests: (fixture: () => GatewayFixture) => void): void {
  for (const [name, start] of Object.entries(topologies))
    describe(`${title}, with its services ${name}`, () => {
      let gateway: RunningGateway | undefined;
      let disconnected = false;
      const services = createServices((seen) => {
        disconnected = seen;
      });
      before(async () => {
        gateway = await start(services);
      });
      after(() => gateway?.stop());
      declareTests(() => {
        if (!gateway) throw new Error('the gateway has not started');
        const { url, port } = gateway;
        return {
          url,
          port,
          get: (path, headers = {}) => fetch(url + path, { headers }),
          sawDisconnect: () => disconnected,
        };
      });
    });
}

/** Creates the services behind the gateway. `onDisconnect` gets whether the slow route's client left. */
function createServices(onDisconnect: (seen: boolean) => void) {
  const records = testService(
    'records',
    quiet,
    [
      declare('GET', '/api/v1/:collection'),
      declare('POST', '/api/v1/:collection'),
      declare('GET', '/api/v1/:collection/:id'),
      declare('POST', '/api/v1/files/upload', 300 * mebibyte),
      declare('GET', '/api/v1/files/download'),
      declare('GET', '/api/v1/files/slow'),
      declare('GET', '/api/v1/files/headers'),
      { ...declare('POST', '/api/v1/files/closed'), access: 'admin' },
      declare('GET', '/api/v1/files/large-head'),
      declare('GET', '/api/v1/files/broken'),
    ],
    {
      '/api/v1/files/upload': async (request, response) => {
        const hash = createHash('sha256');
        for await (const chunk of request) hash.update(chunk);
        response.end(hash.digest('hex'));
      },
      '/api/v1/files/download': (_, response) => {
        Readable.from(zeros(streamedMebibytes)).pipe(response);
      },
      '/api/v1/files/slow': (_, response) => {
        onDisconnect(false);
        response.once('close', () => {
          onDisconnect(!response.writableFinished);
        });
        response.write('begun');
      },
      '/api/v1/files/headers': (request, response) => {
        response.setHeader('Set-Cookie', ['a=1', 'b=2']);
        response.setHeader('ETag', 'W/"1"');
        response.end(JSON.stringify(request.headers));
      },
      '/api/v1/files/large-head': (_, response) => {
        response.setHeader('X-Large', 'x'.repeat(100_000));
        response.end();
      },
      '/api/v1/files/broken': (_, response) => {
        response.writeHead(200, { 'Content-Length': 100 });
        response.write('half', () => response.destroy());
      },
    },
  );
  const auth = testService('auth', quiet, [declare('POST', '/api/v1/admin/login'), declare('GET', '/api/v1/admin/me')]);
  return [records, auth];
}

export function* zeros(mebibytes: number): Generator<Buffer> {
  const chunk = Buffer.alloc(64 * 1024);
  for (let sent = 0; sent < mebibytes * mebibyte; sent += chunk.length) yield chunk;
}

/** Sends a request line unchanged and returns the whole answer. */
export const sendLine = (port: number, requestLine: string): Promise<string> =>
  sendHead(port, `${requestLine}\r\nHost: example.com\r\nConnection: close\r\n`);

/** Sends a request line and headers unchanged, each with its line break, and returns the whole answer. */
export function sendHead(port: number, head: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  socket.write(`${head}\r\n`);
  return text(socket);
}
