/** The message types for clients (realtime §3). */
export type MessageType =
  | 'ready'
  | 'snapshot'
  | 'create'
  | 'update'
  | 'enter'
  | 'delete'
  | 'leave'
  | 'resync'
  | 'revoked'
  | 'error'
  | 'reconnect'
  | 'heartbeat'
  | 'broadcast'
  | 'presence'
  | 'pong'
  | 'authenticated'
  | 'unsubscribed';

/** A message in each transport's bytes. The bytes are made once for all who get the message. */
export interface Frame {
  readonly type: MessageType;
  /** Its JSON's length, in UTF-16 code units. */
  readonly units: number;
  /** A server-sent event (HTML §9.2), with the cursor as its id if it may be resumed from. */
  sse(id: string | undefined): Buffer;
  /** A WebSocket's text message. */
  text(): Buffer;
}

/** Creates a message; `data` is JSON text. */
export function createFrame(type: MessageType, data: string): Frame {
  let sseBytes: { readonly id: string | undefined; readonly bytes: Buffer } | undefined;
  let textBytes: Buffer | undefined;
  return {
    type,
    units: data.length,
    sse(id) {
      if (!sseBytes || sseBytes.id !== id) sseBytes = { id, bytes: Buffer.from(eventText(type, data, id)) };
      return sseBytes.bytes;
    },
    text() {
      textBytes ??= Buffer.from(`{"type":"${type}","data":${data}}`);
      return textBytes;
    },
  };
}

/** JSON texts have line breaks only between tokens, where a space is equivalent. */
const eventText = (type: MessageType, data: string, id: string | undefined): string =>
  `event: ${type}\n${id === undefined ? '' : `id: ${id}\n`}data: ${/[\r\n]/.test(data) ? data.replaceAll(/[\r\n]+/g, ' ') : data}\n\n`;
