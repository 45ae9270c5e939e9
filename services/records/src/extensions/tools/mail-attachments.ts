import { buffer } from 'node:stream/consumers';
import { notFound, validationFailed } from '@recordbus/errors';
import type { Attachment } from '@recordbus/mail';
import { type Collection, quoteIdentifier, tableOf } from '@recordbus/schema';
import type { Downloads } from '../../files/downloads.ts';
import { fileFieldsOf } from '../../files/file-changes.ts';
import { admit, locateFile } from '../../files/find-file.ts';
import { isRecordId } from '../../record/record-id.ts';
import type { ActingCaller } from './acting-caller.ts';
import type { WantedAttachment } from './mail-message.ts';
import { type RecordsToolsDeps, type RecordsWork, workOnRecords } from './records-work.ts';
import type { ToolCall } from './tool.ts';

/** How many bytes a mail's attachments may have together. */
const maxBytes = 10 * 2 ** 20;

export interface AttachmentDeps extends RecordsToolsDeps {
  readonly downloads: Downloads;
}

interface Wanted {
  readonly attachments: readonly WantedAttachment[];
  /** The bytes of those that are not files, by their place. */
  readonly contents: readonly (Uint8Array | undefined)[];
  /** Who reads the files; by default the extension. */
  readonly as: ActingCaller;
}

type WantedFiles = Extract<WantedAttachment, { readonly collection: string }>;

/**
 * Reads a mail's attachments: given bytes, and files that the caller may download. Throws 404 for a file that is not
 * there, 401 or 403 for one that a rule refuses, and 422 beyond 10 MiB.
 */
export async function readAttachments(
  deps: AttachmentDeps,
  call: ToolCall,
  { attachments, contents, as }: Wanted,
): Promise<Attachment[]> {
  const read: Attachment[] = [];
  const take = (one: Attachment) => {
    read.push(one);
    checkSize(sizeOf(read));
  };
  for (const [index, wanted] of attachments.entries()) {
    if ('collection' in wanted) {
      const { collection, ...files } = wanted;
      await workOnRecords(deps, call, { as, collection, action: 'view' }, (work) =>
        readFiles(deps, work, files, { take, room: () => maxBytes - sizeOf(read) }),
      );
    } else {
      const content = contents[index];
      if (!content) throw validationFailed({ [`attachments.${index}.content`]: 'must be text or bytes' });
      take({ name: wanted.name, type: wanted.type, content });
    }
  }
  return read;
}

const sizeOf = (read: readonly Attachment[]): number => read.reduce((sum, { content }) => sum + content.byteLength, 0);

function checkSize(bytes: number): void {
  if (bytes > maxBytes) throw validationFailed({ attachments: `may have at most ${maxBytes} bytes together` });
}

interface Taking {
  take(one: Attachment): void;
  room(): number;
}

async function readFiles(
  { downloads }: AttachmentDeps,
  { query, collection, call }: RecordsWork,
  { id, field, name }: Omit<WantedFiles, 'collection'>,
  { take, room }: Taking,
): Promise<void> {
  const names = await namesIn(query, collection, { id, field });
  const wanted = name === undefined ? names : names.filter((one) => one === name);
  if (wanted.length === 0) throw notFound('file');
  for (const filename of wanted) {
    const file = { recordId: id, filename };
    const found = await locateFile(query, collection, file, call);
    admit(found, call.principal);
    const stored = await downloads.storage.find(found.key);
    if (!stored) throw notFound('file');
    if (stored.sizeBytes > room()) checkSize(maxBytes + 1);
    const stream = await downloads.storage.open(found.key);
    if (!stream) throw notFound('file');
    const { servedAs } = await downloads.types.of(found.key, stored.sizeBytes);
    take({ name: found.original ?? filename, type: servedAs, content: await buffer(stream) });
    const { principal, clientAddress } = call;
    await downloads.audit(collection, file, found, { principal, clientAddress, userAgent: undefined });
  }
}

/** Returns the names of the files in a record's field. */
async function namesIn(
  query: RecordsWork['query'],
  collection: Collection,
  { id, field }: Pick<WantedFiles, 'id' | 'field'>,
): Promise<string[]> {
  if (!fileFieldsOf(collection).some(({ name }) => name === field) || !isRecordId(id)) throw notFound('file');
  const [row] = await query<{ value: string | string[] | null }>({
    text: `select to_jsonb(t.${quoteIdentifier(field)}) as value from ${tableOf(collection)} t where t.id = $1`,
    values: [id],
  });
  return [row?.value ?? []].flat();
}
