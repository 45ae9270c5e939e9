/** Element ids (RFC 9559 §5, RFC 8794 §11), with their markers. */
const ids = {
  header: 0x1a45dfa3,
  docType: 0x4282,
  segment: 0x18538067,
  tracks: 0x1654ae6b,
  track: 0xae,
  trackType: 0x83,
};
const cluster = 0x1f43b675;
const masters: readonly number[] = [ids.header, ids.segment, ids.tracks, ids.track];
const audioTrack = 2;
const webm = 'webm';

/** A Matroska or WebM file's type by its first bytes. It is audio if its tracks are listed there, and are all audio. */
export function matroskaType(head: Buffer): string {
  let isWebm = true;
  let tracksEnd = Number.POSITIVE_INFINITY;
  const tracks: number[] = [];
  for (let at = 0; at < head.length && at < tracksEnd; ) {
    const id = readNumber(head, at, true);
    const size = id && readNumber(head, id.end, false);
    if (!size || id.value === cluster) break;
    const end = size.end + size.value;
    if (id.value === ids.tracks) tracksEnd = end;
    if (id.value === ids.docType) isWebm = head.toString('latin1', size.end, size.end + webm.length) === webm;
    if (id.value === ids.trackType) tracks.push(head[size.end] ?? 0);
    at = masters.includes(id.value) ? size.end : end;
  }
  const isAudio = tracksEnd <= head.length && tracks.length > 0 && tracks.every((type) => type === audioTrack);
  return `${isAudio ? 'audio' : 'video'}/${isWebm ? webm : 'x-matroska'}`;
}

/** Reads a number with variable length (RFC 8794 §4); ids keep their marker. Undefined if it is not whole. */
function readNumber(head: Buffer, at: number, keepsMarker: boolean): { value: number; end: number } | undefined {
  const first = head[at] ?? 0;
  const length = Math.clz32(first) - 23;
  if (length > 8 || at + length > head.length) return undefined;
  let value = keepsMarker ? first : first & (0xff >> length);
  let isUnknown = value === 0xff >> length;
  for (let index = at + 1; index < at + length; index += 1) {
    value = value * 256 + (head[index] ?? 0);
    isUnknown &&= head[index] === 0xff;
  }
  // A segment that is being recorded has no size yet: all bits are set.
  return { value: isUnknown && !keepsMarker ? Number.POSITIVE_INFINITY : value, end: at + length };
}
