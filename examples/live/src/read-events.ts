/** A server-sent event. */
export interface StreamEvent {
  readonly type: string;
  /** The cursor to resume from, if the event has one. */
  readonly id: string | undefined;
  /** JSON text; undefined for an event that has only an id. */
  readonly data: string | undefined;
}

/** Reads a `text/event-stream` as this service writes it: each field on one line, and line feeds only. */
export async function* readEvents(body: ReadableStream<Uint8Array<ArrayBuffer>>): AsyncGenerator<StreamEvent> {
  let rest = '';
  for await (const text of body.pipeThrough(new TextDecoderStream())) {
    const blocks = `${rest}${text}`.split('\n\n');
    rest = blocks.pop() ?? '';
    for (const block of blocks) yield parseEvent(block);
  }
}

function parseEvent(block: string): StreamEvent {
  const fields = new Map(block.split('\n').map((line) => [line.replace(/:.*/s, ''), line.replace(/^\w*: ?/, '')]));
  return { type: fields.get('event') ?? 'message', id: fields.get('id'), data: fields.get('data') };
}
