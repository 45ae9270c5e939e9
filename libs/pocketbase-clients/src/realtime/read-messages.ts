import type { Readable } from 'node:stream';
import { isObject, type JsonObject } from '../product.ts';

/** A message on our live connections (realtime §3). */
export interface LiveMessage {
  readonly type: string;
  /** Where the whole connection resumes; undefined if not after this message. */
  readonly cursor: string | undefined;
  readonly data: JsonObject;
}

/** Reads the messages of a stream of server-sent events, as our API writes them. */
export async function* readMessages(stream: Readable): AsyncGenerator<LiveMessage> {
  let rest = '';
  const decoder = new TextDecoder();
  for await (const chunk of stream) {
    const blocks = (rest + decoder.decode(chunk, { stream: true })).split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) {
      const message = readMessage(block);
      if (message) yield message;
    }
  }
}

function readMessage(block: string): LiveMessage | undefined {
  const members = new Map(
    block.split('\n').map((line) => {
      const colon = line.indexOf(':');
      return [line.slice(0, colon), line.slice(colon + 1).trimStart()];
    }),
  );
  const [type, text] = [members.get('event'), members.get('data')];
  if (type === undefined || text === undefined) return undefined;
  const data: unknown = JSON.parse(text);
  return { type, cursor: members.get('id'), data: isObject(data) ? data : {} };
}
