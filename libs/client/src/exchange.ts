import type { Body } from './body.ts';

/** How much of a body has been sent, in bytes. */
export interface Progress {
  readonly sent: number;
  readonly total: number;
}

/** One HTTP request. */
export interface Outgoing {
  readonly method: string;
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Body | undefined;
  readonly signal: AbortSignal | undefined;
  readonly onProgress: ((progress: Progress) => void) | undefined;
}

/** The parts of `XMLHttpRequest` that report an upload's progress. Browsers' `fetch` does not. */
interface Xhr {
  readonly upload: { onprogress: ((event: { loaded: number; total: number }) => void) | null };
  readonly status: number;
  readonly response: ArrayBuffer;
  responseType: string;
  onload: (() => void) | null;
  onerror: (() => void) | null;
  onabort: (() => void) | null;
  open(method: string, url: string): void;
  setRequestHeader(name: string, value: string): void;
  getAllResponseHeaders(): string;
  send(body: unknown): void;
  abort(): void;
}

const xhrClass = (): (new () => Xhr) | undefined =>
  Reflect.get(globalThis, 'XMLHttpRequest') as unknown as (new () => Xhr) | undefined;

/** Sends a request with `given`, the caller's `fetch`, or else with the platform's. */
export function exchange(outgoing: Outgoing, given: typeof fetch | undefined): Promise<Response> {
  const { method, url, body, signal, onProgress } = outgoing;
  const headers = { ...outgoing.headers, ...(body && { 'Content-Type': body.type }) };
  const send = given ?? fetch;
  if (!onProgress || !body || typeof body.content === 'string')
    return send(url, { method, headers, ...(body && { body: body.content }), ...(signal && { signal }) });
  const Xhr = given ? undefined : xhrClass();
  if (Xhr) return exchangeByXhr(new Xhr(), { ...outgoing, headers });
  const init = { method, headers, body: counted(body.content, onProgress), duplex: 'half', ...(signal && { signal }) };
  return send(url, init as RequestInit);
}

/** A body's bytes, counted while they are read. */
function counted(content: Blob, onProgress: (progress: Progress) => void): ReadableStream<Uint8Array> {
  let sent = 0;
  return content.stream().pipeThrough(
    new TransformStream<Uint8Array, Uint8Array>({
      transform(chunk, controller) {
        sent += chunk.byteLength;
        onProgress({ sent, total: content.size });
        controller.enqueue(chunk);
      },
    }),
  );
}

function exchangeByXhr(xhr: Xhr, { method, url, headers, body, signal, onProgress }: Outgoing): Promise<Response> {
  return new Promise((resolve, reject) => {
    xhr.open(method, url);
    for (const [name, value] of Object.entries(headers)) xhr.setRequestHeader(name, value);
    xhr.responseType = 'arraybuffer';
    xhr.upload.onprogress = ({ loaded, total }) => onProgress?.({ sent: loaded, total });
    xhr.onerror = () => reject(new TypeError('The request failed.'));
    xhr.onabort = () => reject(signal?.reason ?? new TypeError('The request was aborted.'));
    xhr.onload = () => {
      const lines = xhr.getAllResponseHeaders().trim().split('\r\n').filter(Boolean);
      const pairs = lines.map((line) => line.split(/: ?(.*)/s).slice(0, 2) as [string, string]);
      resolve(new Response(xhr.response, { status: xhr.status, headers: pairs }));
    };
    if (signal?.aborted) return reject(signal.reason);
    signal?.addEventListener('abort', () => xhr.abort(), { once: true });
    xhr.send(body?.content);
  });
}
