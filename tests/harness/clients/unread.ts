import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** Sends a request from the given address through a trusted proxy, and reads only the answer's status. */
export async function sendUnread(
  url: string,
  path: string,
  address: string,
): Promise<{ socket: Socket; status: string }> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port) });
  socket.on('error', () => {});
  socket.write(`GET ${path} HTTP/1.1\r\nHost: a\r\nX-Forwarded-For: ${address}\r\n\r\n`);
  await once(socket, 'readable');
  return { socket, status: String(socket.read(12)).slice(-3) };
}
