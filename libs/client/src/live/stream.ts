/** A server-sent event. */
export interface StreamEvent {
  readonly type: string;
  /** The cursor from which the whole connection resumes. */
  readonly id: string | undefined;
  readonly data: Readonly<Record<string, unknown>>;
}

/** A heartbeat comes every 15 s. After a longer silence the connection is dead. */
export const longestSilenceMs = 40_000;

/** Reads an answer's events (the part of HTML §9.2.6 that the server uses) until it ends. `onSilence` cuts it. */
export async function* readEvents(response: Response, onSilence: () => void): AsyncGenerator<StreamEvent, void> {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
  let text = '';
  let searched = 0;
  for (;;) {
    const timer = setTimeout(onSilence, longestSilenceMs);
    const { done, value } = (await reader?.read().finally(() => clearTimeout(timer))) ?? { done: true, value: '' };
    if (done) return;
    text += value;
    for (let end = text.indexOf('\n\n', searched); end !== -1; end = text.indexOf('\n\n')) {
      const event = eventOf(text.slice(0, end));
      text = text.slice(end + 2);
      if (event) yield event;
    }
    // The blank line may be split across two chunks.
    searched = Math.max(0, text.length - 1);
  }
}

function eventOf(block: string): StreamEvent | undefined {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(':');
      return colon === -1 ? [line, ''] : [line.slice(0, colon), line.slice(colon + 1).trimStart()];
    }),
  );
  const [type, data] = [fields.get('event'), fields.get('data')];
  const id = fields.get('id');
  if (type !== undefined && data !== undefined) return { type, id, data: JSON.parse(data) };
  return id === undefined ? undefined : { type: 'cursor', id, data: {} };
}
