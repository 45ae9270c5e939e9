import { cutMembers, type EventMessage, findEnvelope } from '@recordbus/bus';

/** A committed write to a record, read from the stream. */
export interface Change {
  readonly seq: number;
  /** Its collection's name at the write. */
  readonly collection: string;
  /** Its collection's id; undefined for an event from an earlier release. */
  readonly collectionId: string | undefined;
  readonly recordId: string;
  readonly verb: 'create' | 'update' | 'delete';
  /** When it happened, in milliseconds since the epoch. */
  readonly atMs: number;
  /** Its message's bytes. */
  readonly bytes: number;
  /** The rest of the message, decoded when needed; undefined if the message is not an event. */
  read(): ChangeBody | undefined;
}

interface ChangeBody {
  /** The event's id. */
  readonly id: string;
  readonly version: string;
  /** The record's shape (events §2.2); undefined for an event from an earlier release. */
  readonly schema: string | undefined;
  /** The text in `data`; undefined for a large event. */
  readonly data: string | undefined;
  /** The record after the write, or a deleted one's last state; undefined for a large event. */
  readonly record: Readonly<Record<string, unknown>> | undefined;
  /** The record before an update. */
  readonly previous: Readonly<Record<string, unknown>> | undefined;
  /** The fields that an update changed. */
  readonly changed: readonly string[] | undefined;
}

const verbs: ReadonlySet<string> = new Set(['create', 'update', 'delete']);

const isVerb = (text: string): text is Change['verb'] => verbs.has(text);

/** Reads a message's head; undefined for an event that belongs to no record. */
export function changeOf({ seq, header, time, data }: EventMessage): Change | undefined {
  const subject = header('ce-subject') ?? '';
  const event = header('Service-Event') ?? '';
  const slash = subject.indexOf('/');
  const collection = subject.slice(0, slash);
  const verb = event.slice(collection.length + 1);
  if (slash < 1 || !event.startsWith(`${collection}.`) || !isVerb(verb)) return undefined;
  const statedMs = Date.parse(header('ce-time') ?? '');
  // Ten thousand decoded bodies would take several times their messages' memory.
  let known: WeakRef<ChangeBody> | undefined;
  return {
    seq,
    collection,
    collectionId: header('Service-Collection-Id'),
    recordId: subject.slice(slash + 1),
    verb,
    atMs: Number.isNaN(statedMs) ? time.getTime() : statedMs,
    bytes: data.length,
    read() {
      const body = known?.deref() ?? bodyOf(data);
      known = body && new WeakRef(body);
      return body;
    },
  };
}

function bodyOf(bytes: Uint8Array): ChangeBody | undefined {
  const decoded = findEnvelope(bytes);
  if (decoded?.envelope.version === undefined) return undefined;
  const { id, version, schema, reference } = decoded.envelope;
  const data = decoded.envelope.data as Partial<ChangeBody> | null;
  return {
    id,
    version,
    schema,
    data: reference ? undefined : cutMembers(decoded.text).get('data'),
    record: data?.record,
    previous: data?.previous,
    changed: data?.changed,
  };
}

/** Whether a change belongs to a collection. A collection keeps its id when it is renamed. */
export const isOf = (
  { collection, collectionId }: Pick<Change, 'collection' | 'collectionId'>,
  of: { readonly name: string; readonly id: string },
): boolean => (collectionId === undefined ? collection === of.name : collectionId === of.id);
