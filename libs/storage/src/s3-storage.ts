import { Readable } from 'node:stream';
import {
  DeleteObjectsCommand,
  GetObjectCommand,
  HeadObjectCommand,
  ListObjectsV2Command,
  S3Client,
  S3ServiceException,
} from '@aws-sdk/client-s3';
import { Upload } from '@aws-sdk/lib-storage';
import { type FileKey, fileKey, isSegment, previewedName, previewMark } from './file-key.ts';
import type { Bytes, Storage } from './storage.ts';

/** Where an S3-compatible store is; the SDK's defaults apply to missing options. */
export interface S3Options {
  readonly bucket: string;
  /** Every key's prefix, without slashes at its ends; empty for none. */
  readonly prefix: string;
  readonly endpoint?: string | undefined;
  readonly region: string;
  readonly credentials?: { readonly accessKeyId: string; readonly secretAccessKey: string } | undefined;
}

/** An upload's part stays in memory until it is sent; 10,000 parts are the largest file, 78 GiB. */
const partBytes = 8 * 1024 * 1024;
const partsAtOnce = 2;

/** The most objects that one request can delete. */
const deletedAtOnce = 1000;

/**
 * Keeps files in a bucket, `<prefix>/<collection id>/<record id>/<name>`. An object is complete or does not exist. A
 * lifecycle rule on the bucket should remove upload parts that died processes left.
 */
export function openS3Storage({ bucket: name, prefix, ...options }: S3Options): Storage {
  const client = createClient(options);
  const bucket: Bucket = { client, name };
  const path = (...segments: readonly string[]) => [...(prefix ? [prefix] : []), ...segments].join('/');
  const base = prefix ? `${prefix}/` : '';
  const nameOf = ({ segments }: FileKey) => ({ Bucket: name, Key: path(...segments) });

  return {
    async put(key, bytes, { announced } = {}) {
      await announced;
      const { counted, count } = countBytes(bytes);
      const params = { ...nameOf(key), Body: counted };
      await new Upload({ client, params, partSize: partBytes, queueSize: partsAtOnce }).done();
      return { sizeBytes: count() };
    },
    async find(key) {
      const head = await unlessMissing(client.send(new HeadObjectCommand(nameOf(key))));
      return head && { sizeBytes: head.ContentLength ?? 0 };
    },
    async open(key, range) {
      const part = range && { Range: `bytes=${range.start}-${range.end}` };
      const found = await unlessMissing(client.send(new GetObjectCommand({ ...nameOf(key), ...part })));
      if (!found) return undefined;
      if (!(found.Body instanceof Readable)) throw new Error('the store returned no stream');
      return found.Body;
    },
    async delete(key) {
      await deleteAll(bucket, [nameOf(key).Key]);
      await deleteUnder(bucket, `${nameOf(key).Key}${previewMark}`);
    },
    async *list(collectionId, idsStart) {
      if (!isSegment(collectionId)) return;
      for await (const { key } of listUnder(bucket, base, `${collectionId}/${idsStart}`))
        if (previewedName(key.segments[2]) === undefined) yield key;
    },
    async *listPreviews() {
      for await (const found of listUnder(bucket, base))
        if (previewedName(found.key.segments[2]) !== undefined) yield found;
    },
    async deleteRecord(collectionId, recordId, kept = new Set()) {
      if (!isSegment(collectionId) || !isSegment(recordId)) return;
      const folder = `${path(collectionId, recordId)}/`;
      await deleteUnder(bucket, folder, (key) => kept.has(key.slice(folder.length)));
    },
    async deleteCollection(collectionId) {
      if (isSegment(collectionId)) await deleteUnder(bucket, `${path(collectionId)}/`);
    },
  };
}

interface Bucket {
  readonly client: S3Client;
  readonly name: string;
}

const createClient = ({ endpoint, region, credentials }: Omit<S3Options, 'bucket' | 'prefix'>): S3Client =>
  new S3Client({
    region,
    ...(endpoint !== undefined && { endpoint, forcePathStyle: true }),
    ...(credentials && { credentials }),
    // Other stores than Amazon's do not support the newer checksums.
    requestChecksumCalculation: 'WHEN_REQUIRED',
    responseChecksumValidation: 'WHEN_REQUIRED',
  });

/** Counts the bytes that pass through a stream. */
function countBytes(bytes: Bytes) {
  let sizeBytes = 0;
  const counted = Readable.from(
    (async function* () {
      for await (const chunk of bytes) {
        sizeBytes += Buffer.byteLength(chunk);
        yield chunk;
      }
    })(),
    { objectMode: false },
  );
  return { counted, count: () => sizeBytes };
}

interface Listed {
  readonly key: FileKey;
  readonly sizeBytes: number;
}

/** Lists the files whose keys begin with `base` and `start`, a page at a time. */
async function* listUnder({ client, name: Bucket }: Bucket, base: string, start = ''): AsyncGenerator<Listed> {
  for (let after: string | undefined, hasMore = true; hasMore; ) {
    const page = await client.send(
      new ListObjectsV2Command({ Bucket, Prefix: base + start, ...(after && { ContinuationToken: after }) }),
    );
    for (const { Key = '', Size = 0 } of page.Contents ?? []) {
      const [collectionId = '', recordId = '', name = '', ...more] = Key.slice(base.length).split('/');
      const key = fileKey(collectionId, recordId, name);
      if (key && more.length === 0) yield { key, sizeBytes: Size };
    }
    after = page.NextContinuationToken;
    hasMore = after !== undefined;
  }
}

async function deleteAll({ client, name: Bucket }: Bucket, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  const { Errors: errors = [] } = await client.send(
    new DeleteObjectsCommand({ Bucket, Delete: { Objects: keys.map((Key) => ({ Key })), Quiet: true } }),
  );
  if (errors[0]) throw new Error(`${errors.length} objects were not deleted: ${errors[0].Message ?? errors[0].Code}`);
}

/** Deletes the objects with the prefix that are not kept, a page at a time. */
async function deleteUnder(bucket: Bucket, start: string, isKept = (_key: string) => false): Promise<void> {
  for (let last: string | undefined; ; ) {
    const { Contents: found = [] } = await bucket.client.send(
      new ListObjectsV2Command({
        Bucket: bucket.name,
        Prefix: start,
        MaxKeys: deletedAtOnce,
        ...(last !== undefined && { StartAfter: last }),
      }),
    );
    const keys = found.flatMap(({ Key }) => Key ?? []);
    await deleteAll(
      bucket,
      keys.filter((key) => !isKept(key)),
    );
    last = keys.at(-1);
    if (found.length < deletedAtOnce) return;
  }
}

async function unlessMissing<T>(work: Promise<T>): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (error instanceof S3ServiceException && error.$metadata.httpStatusCode === 404) return undefined;
    throw error;
  }
}
