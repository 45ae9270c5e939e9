import { isFileName } from '@recordbus/text/file-name';

/** Where a file's bytes are: collection id, record id and stored name, each a safe path segment. */
export interface FileKey {
  readonly segments: readonly [collectionId: string, recordId: string, name: string];
}

/** No separator, no leading dot and so no `..`, and no character with a meaning in file systems or stores. */
const segmentShape = /^[A-Za-z0-9_-][A-Za-z0-9._-]{0,199}$/;

/** Separates a file's name from its preview's size. No stored name contains it. */
export const previewMark = '.thumb-';

/** Returns the key of a file's preview; `size` is a text such as `100x100f`. Previews are removed with the file. */
export const previewKey = ({ segments: [collectionId, recordId, name] }: FileKey, size: string): FileKey | undefined =>
  fileKey(collectionId, recordId, `${name}${previewMark}${size}`);

/** Returns the name of a preview's file; undefined when the name is not a preview's. */
export function previewedName(name: string): string | undefined {
  const at = name.lastIndexOf(previewMark);
  return at < 0 ? undefined : name.slice(0, at);
}

/** Whether the text can be an id in a key. */
export const isSegment = (text: string): boolean => segmentShape.test(text);

/** Returns a file's key; undefined when a part is not a valid segment, so that no such file exists. */
export function fileKey(collectionId: string, recordId: string, name: string): FileKey | undefined {
  return isSegment(collectionId) && isSegment(recordId) && isFileName(name)
    ? { segments: [collectionId, recordId, name] }
    : undefined;
}
