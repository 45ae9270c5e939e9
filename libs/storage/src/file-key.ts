/** Where the bytes of a file are: collection id, record id and stored name, each one safe segment of a path. */
export interface FileKey {
  readonly segments: readonly [collectionId: string, recordId: string, name: string];
}

/** No separator, no leading dot and so no `..`, nothing a file system or a store has a meaning for. */
const segmentShape = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;

/** Behind the name of a file, before the size of a preview of it. No stored name has it. */
export const previewMark = '.thumb-';

/** The key of a preview of a file; `size` is `100x100f` or the like. It is removed with the file. */
export const previewKey = ({ segments: [collectionId, recordId, name] }: FileKey, size: string): FileKey | undefined =>
  fileKey(collectionId, recordId, `${name}${previewMark}${size}`);

/** Can it be a segment of a key? */
export const isSegment = (text: string): boolean => segmentShape.test(text);

/** The key of a file, the only way to one; undefined when a part can't be a segment, so that no such file exists. */
export function fileKey(collectionId: string, recordId: string, name: string): FileKey | undefined {
  const segments = [collectionId, recordId, name] as const;
  return segments.every((segment) => segmentShape.test(segment)) ? { segments } : undefined;
}
