import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { joinSockets } from '../harness/network/join-sockets.ts';

/** A balancer in front of the gateways: it offers a connection to the next one if one refuses it, and retries nothing else. */
export interface Balancer extends AsyncDisposable {
  readonly url: string;
  /** Where new connections go. */
  servers: readonly URL[];
}

/** Starts a balancer on a free port. */
export async function startBalancer(): Promise<Balancer> {
  const sockets = new Set<Socket>();
  let turn = 0;
  const balancer = createServer({ allowHalfOpen: true, pauseOnConnect: true }, (client) => {
    client.on('error', () => {});
    turn += 1;
    const { servers } = result;
    offer(servers.map((_, index) => servers[(turn + index) % servers.length] as URL));

    function offer([next, ...others]: readonly URL[]): void {
      if (!next) return void client.destroy();
      const server = connect({ host: next.hostname, port: Number(next.port), allowHalfOpen: true });
      const refused = () => offer(others);
      server.once('error', refused);
      server.once('connect', () => {
        server.off('error', refused);
        joinSockets(client, server, sockets);
      });
    }
  });

  balancer.listen(0, '127.0.0.1');
  await once(balancer, 'listening');
  const result: Balancer = {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    servers: [],
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      balancer.close();
      await once(balancer, 'close');
    },
  };
  return result;
}
