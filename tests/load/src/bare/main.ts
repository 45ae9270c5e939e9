import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { openBareDatabase, type Statement } from './database.ts';
import { deletePost, getOne, insertPost, listTwenty, updatePost } from './statements.ts';

// The baseline: Node's HTTP server and the pg driver with the same statements. No router, validation, rules, tokens, events
// or logs. It serves the paths that the bench requests.
process.on('disconnect', () => process.exit());

const { read, write } = openBareDatabase(process.argv[2] ?? '');
const server = createServer((request, response) => {
  answer(request, response).catch((error: Error) => response.writeHead(500).end(error.message));
});
server.listen(0, '127.0.0.1');
await once(server, 'listening');
process.send?.({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` });

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const [path = '', query] = (request.url ?? '').split('?');
  const [, , , , posts = '', id] = path.split('/');
  const rows = await run(request, posts, id, query);
  const body = rows[0]?.body ?? '{"error":"not found"}';
  response.writeHead(rows.length === 0 ? 404 : request.method === 'POST' ? 201 : 200, {
    'content-type': 'application/json',
    'content-length': Buffer.byteLength(body),
  });
  response.end(body);
}

async function run(request: IncomingMessage, posts: string, id: string | undefined, query: string | undefined) {
  switch (request.method) {
    case 'POST': {
      const { title, description, public: isPublic, author } = JSON.parse(await text(request));
      return write(
        statement(`create ${posts}`, () => insertPost(posts)),
        [title, description, isPublic, author],
      );
    }
    case 'PATCH':
      return write(
        statement(`update ${posts}`, () => updatePost(posts)),
        [id, JSON.parse(await text(request)).title],
      );
    case 'DELETE':
      return write(
        statement(`delete ${posts}`, () => deletePost(posts)),
        [id],
      );
  }
  if (id)
    return read(
      statement(`get ${posts}`, () => getOne(posts)),
      [id],
    );
  const withTotal = !query?.includes('skipTotal');
  return read(
    statement(`list ${posts} ${withTotal}`, () => listTwenty(posts, withTotal)),
    [],
  );
}

const statements = new Map<string, Statement>();

/** The statements by name. Each is prepared once on each connection. */
function statement(name: string, compose: () => string): Statement {
  const known = statements.get(name) ?? { name, text: compose() };
  statements.set(name, known);
  return known;
}
