/** Where the bytes of a file are: collection id, record id and stored name, each one safe segment of a path. */
export interface FileKey {
  readonly segments: readonly [collectionId: string, recordId: string, name: string];
}

/** No separator, no leading dot and so no `..`, nothing a file system or a store has a meaning for. */
const segmentShape = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;

/** The key of a file, the only way to one; undefined when a part can't be a segment, so that no such file exists. */
export function fileKey(collectionId: string, recordId: string, name: string): FileKey | undefined {
  const segments = [collectionId, recordId, name] as const;
  return segments.every((segment) => segmentShape.test(segment)) ? { segments } : undefined;
}
