import { once } from 'node:events';
import { type AddressInfo, connect, createServer, type Socket } from 'node:net';
import { joinSockets } from '../../network/join-sockets.ts';

/** A balancer in front of servers. */
interface Balancer {
  readonly url: string;
  stop(): Promise<void>;
}

/** Starts a balancer on a free port: each connection goes to the next server. */
export async function startBalancer(urls: readonly string[]): Promise<Balancer> {
  const servers = urls.map((url) => new URL(url));
  const sockets = new Set<Socket>();
  let turn = 0;
  const balancer = createServer({ allowHalfOpen: true }, (client) => {
    turn = (turn + 1) % servers.length;
    const { hostname = '', port } = servers[turn] ?? {};
    const server = connect({ host: hostname, port: Number(port), allowHalfOpen: true });
    joinSockets(client, server, sockets);
  });
  balancer.listen(0, '127.0.0.1');
  await once(balancer, 'listening');
  return {
    url: `http://127.0.0.1:${(balancer.address() as AddressInfo).port}`,
    async stop() {
      for (const socket of sockets) socket.destroy();
      balancer.close();
      await once(balancer, 'close');
    },
  };
}
