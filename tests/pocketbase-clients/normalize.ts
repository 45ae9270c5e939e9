import { ClientResponseError } from 'pocketbase';

/** What a row's call gave: its value, or its refusal. */
export type Outcome = { readonly value: unknown } | { readonly status: number; readonly refusal: unknown };

/** Runs a call, and returns its outcome without what differs from server to server: ids, times, tokens, file names. */
export async function outcomeOf(call: () => Promise<unknown>): Promise<Outcome> {
  try {
    return { value: normalize(await call()) };
  } catch (error) {
    if (!(error instanceof ClientResponseError)) throw error;
    return { status: error.status, refusal: normalize(error.response) };
  }
}

const id = /^([a-z0-9]{15}|[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f-]{21}|pbc_\d+|_pb_users_auth_)$/;
const token = /^[\w-]+\.[\w-]+\.[\w-]+$/;
const storedFile = /^[\w-]+_[a-z0-9]{10}(\.\w+)$/;
const time = /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3}Z$/;

function normalize(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(normalize);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(
      Object.entries(value)
        .sort(([a], [b]) => (a < b ? -1 : 1))
        .map(([name, member]) => [id.test(name) ? '<id>' : name, normalize(member)]),
    );
  return typeof value === 'string' ? normalizeText(value) : value;
}

function normalizeText(text: string): string {
  if (id.test(text)) return '<id>';
  if (text.startsWith('eyJ') && token.test(text)) return '<token>';
  if (storedFile.test(text)) return text.replace(storedFile, '<file>$1');
  return time.test(text) && Math.abs(Date.parse(text) - Date.now()) < 86_400_000 ? '<now>' : text;
}
