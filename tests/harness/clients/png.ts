import { crc32, deflateSync } from 'node:zlib';

/** Returns a PNG with this size in pixels, with noise to make it large in bytes. */
export function pngOf(width: number, height: number, { isNoise = false } = {}): Buffer {
  const row = () => {
    const pixels = Buffer.alloc(1 + width * 3, 0x80);
    if (isNoise) for (let at = 1; at < pixels.length; at += 1) pixels[at] = Math.floor(Math.random() * 256);
    pixels[0] = 0;
    return pixels;
  };
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 2], 8);
  const chunk = (type: string, data: Buffer) => {
    const body = Buffer.concat([Buffer.from(type), data]);
    const frame = Buffer.alloc(8 + body.length);
    frame.writeUInt32BE(data.length, 0);
    frame.set(body, 4);
    frame.writeUInt32BE(crc32(body), 4 + body.length);
    return frame;
  };
  const data = deflateSync(Buffer.concat(Array.from({ length: height }, row)));
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([signature, chunk('IHDR', header), chunk('IDAT', data), chunk('IEND', Buffer.alloc(0))]);
}
