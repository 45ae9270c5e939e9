import assert from 'node:assert/strict';
import { once } from 'node:events';
import { type AddressInfo, createServer, type Socket } from 'node:net';
import { describe, test } from 'node:test';
import { createLogger } from '@recordbus/process/logging';
import pg from 'pg';
import { createClassMeters } from '../connections/class-meter.ts';
import { ReadLane } from '../connections/read-lane.ts';
import { skipWithoutDatabase } from '../temporary-database.ts';
import { BrokenAnswerError } from './answer-frames.ts';
import { GuardedClient } from './guarded-client.ts';

/** A protocol message: its type, its length, its body. */
function message(type: string, body: Buffer, length = body.length + 4): Buffer {
  const header = Buffer.alloc(5, type);
  header.writeUInt32BE(length >>> 0, 1);
  return Buffer.concat([header, body]);
}

const welcome = Buffer.concat([message('R', Buffer.alloc(4)), message('Z', Buffer.from('I'))]);

const brokenAnswers: Readonly<Record<string, Buffer>> = {
  'text of another protocol': Buffer.from('HTTP/1.1 400 Bad Request\r\n\r\n'),
  'a message without a length': message('D', Buffer.alloc(0), 0),
  'a row of 2 GiB': message('D', Buffer.from('\0\x01'), 2 ** 31),
  'a row that ends within a number': message('D', Buffer.from('\0\x05\0')),
  'a row with a negative number of values': message('D', Buffer.from('\xff\xff', 'latin1')),
  'a row before its description': message('D', Buffer.from('\0\0')),
  'the head of an unknown authentication': message('R', Buffer.from('\0\0\0\x63')),
};

/** Starts a server that admits every client and answers every statement with this. */
async function startBrokenServer(answer: Buffer) {
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.on('error', () => {});
    socket.once('data', () => {
      socket.write(welcome);
      socket.on('data', () => {
        // In pieces, as they may arrive from a network.
        for (const byte of answer.subarray(0, 7)) socket.write(Buffer.of(byte));
        socket.write(answer.subarray(7));
      });
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `postgres://nobody:none@127.0.0.1:${port}/none`,
    stop() {
      for (const socket of sockets) socket.destroy();
      server.close();
    },
  };
}

const laneTo = (connectionString: string, size: number, silenceMs: number) =>
  new ReadLane({
    connection: { connectionString, query_timeout: silenceMs },
    size,
    maxUnderWay: 100,
    log: createLogger('test', 'silent'),
    meterOf: createClassMeters(undefined),
    work: 'gets',
  });

describe('an answer that cannot be read fails only its statement', () => {
  for (const [name, answer] of Object.entries(brokenAnswers))
    test(name, async () => {
      const server = await startBrokenServer(answer);
      const lane = laneTo(server.url, 2, 1000);
      const pool = new pg.Pool({ connectionString: server.url, max: 2, Client: GuardedClient, query_timeout: 1000 });
      pool.on('error', () => {});
      try {
        const one = { text: 'select $1::int', values: [1] };
        const reads = [1, 2, 3, 4].flatMap(() => [lane.read(one), pool.query(one)]);
        for (const outcome of await Promise.allSettled(reads)) assert.equal(outcome.status, 'rejected');
        await assert.rejects(lane.read(one));
        await assert.rejects(pool.query(one));
      } finally {
        await lane.close();
        await pool.end();
        server.stop();
      }
    });
});

describe('an answer that is too large for a process', { skip: skipWithoutDatabase }, () => {
  const url = process.env.TEST_DATABASE_URL ?? '';
  const large = { text: 'select repeat($1, 300000000) as text', values: ['x'] };
  const one = { text: 'select 1 as n', values: [] };
  const isTooLarge = (error: unknown) => error instanceof BrokenAnswerError && error.isTooLarge;

  test('fails its read, and others on the connection are sent again', async () => {
    const lane = laneTo(url, 1, 60_000);
    try {
      const [first, second, third] = await Promise.allSettled([lane.read(one), lane.read(large), lane.read(one)]);
      assert.ok(first?.status === 'fulfilled' && third?.status === 'fulfilled');
      assert.ok(second?.status === 'rejected' && isTooLarge(second.reason));
      assert.deepEqual(await lane.read(one), [{ n: 1 }]);
    } finally {
      await lane.close();
    }
  });

  test('is refused too if it has many rows', async () => {
    const pool = new pg.Pool({ connectionString: url, max: 1, Client: GuardedClient });
    try {
      const rows = { text: 'select repeat($1, 30000000) as text from generate_series(1, 20)', values: ['x'] };
      await assert.rejects(pool.query(rows), isTooLarge);
      assert.deepEqual((await pool.query(one)).rows, [{ n: 1 }]);
    } finally {
      await pool.end();
    }
  });
});
