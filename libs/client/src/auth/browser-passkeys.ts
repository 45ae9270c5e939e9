/** The part of a browser's `navigator.credentials` that passkeys use. */
interface Credentials {
  create(options: object): Promise<unknown>;
  get(options: object): Promise<unknown>;
}

type Json = Readonly<Record<string, unknown>>;

const bytesOf = (text: string): Uint8Array<ArrayBuffer> =>
  Uint8Array.from(atob(text.replaceAll('-', '+').replaceAll('_', '/')), (letter) => letter.charCodeAt(0));

const textOf = (buffer: ArrayBuffer): string =>
  btoa(Array.from(new Uint8Array(buffer), (byte) => String.fromCharCode(byte)).join(''))
    .replaceAll('+', '-')
    .replaceAll('/', '_')
    .replaceAll('=', '');

/** Replaces the texts that are bytes in the options' JSON (WebAuthn 3 §5.1.8, §5.1.9). */
const decoded = (options: Json): Json =>
  Object.fromEntries(
    Object.entries(options).map(([name, value]) => {
      if (typeof value === 'string' && (name === 'id' || name === 'challenge')) return [name, bytesOf(value)];
      if (name === 'user') return [name, decoded(Object(value))];
      if (name.endsWith('Credentials')) return [name, Array.from(Object(value), (one) => decoded(Object(one)))];
      return [name, value];
    }),
  );

/** Returns a credential as JSON. Browsers' own `toJSON` is younger than passkeys, and password managers lack it. */
function encoded(credential: unknown): Json {
  const { id, rawId, type, response, authenticatorAttachment } = Object(credential);
  const members = ['clientDataJSON', 'attestationObject', 'authenticatorData', 'signature', 'userHandle'];
  const bytes = members
    .filter((name) => response[name] instanceof ArrayBuffer)
    .map((name) => [name, textOf(response[name])] as const);
  const transports = typeof response.getTransports === 'function' ? { transports: response.getTransports() } : {};
  return {
    id,
    rawId: textOf(rawId),
    type,
    authenticatorAttachment,
    response: { ...Object.fromEntries(bytes), ...transports },
  };
}

function browser(): Credentials {
  const found: Credentials | undefined = Object(Reflect.get(globalThis, 'navigator')).credentials;
  if (!found) throw new Error('passkeys need a browser, and a page over HTTPS or on localhost');
  return found;
}

/** Has the browser make a passkey. Rejects with its DOMException when the user declines. */
export const makePasskey = async (options: Json, signal?: AbortSignal): Promise<Json> =>
  encoded(await browser().create({ publicKey: decoded(options), signal }));

/** How long before its end a challenge is replaced, in milliseconds: a user who picks then still has time for the PIN. */
const spareMs = 60_000;

/**
 * Has the browser offer passkeys among a field's suggestions (`autocomplete="username webauthn"`), and waits until the user
 * picks one. Undefined when the challenge is about to expire: browsers wait longer than the server does.
 */
export async function suggestPasskey(options: Json, signal?: AbortSignal): Promise<Json | undefined> {
  const ending = new AbortController();
  const end = (): void => ending.abort(signal?.reason);
  if (signal?.aborted) end();
  signal?.addEventListener('abort', end);
  const timer = setTimeout(end, Math.max(spareMs, Number(options.timeout) - spareMs));
  try {
    return await usePasskey(options, true, ending.signal);
  } catch (error) {
    if (ending.signal.aborted && !signal?.aborted) return undefined;
    throw error;
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', end);
  }
}

/**
 * Has the browser use a passkey. With `conditional` it offers passkeys among a field's suggestions
 * (`autocomplete="username webauthn"`), and waits until the user picks one.
 */
export const usePasskey = async (options: Json, conditional: boolean, signal?: AbortSignal): Promise<Json> =>
  encoded(
    await browser().get({ publicKey: decoded(options), signal, ...(conditional && { mediation: 'conditional' }) }),
  );

/** Whether the browser can offer passkeys among a field's suggestions. */
export async function canSuggestPasskeys(): Promise<boolean> {
  const api: unknown = Reflect.get(globalThis, 'PublicKeyCredential');
  const ask: unknown = api && Reflect.get(Object(api), 'isConditionalMediationAvailable');
  return typeof ask === 'function' && (await ask.call(api)) === true;
}
