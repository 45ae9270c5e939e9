import { randomBytes } from 'node:crypto';
import type { Row } from './row.ts';

export const uploadCollection = 'pictures';

/** One file's bytes. */
const fileBytes = 200_000;
const boundary = 'the-boundary-of-the-bench';

/** The content type for `uploadBody`. */
export const uploadType = `multipart/form-data; boundary=${boundary}`;

/** A form with a text and an incompressible file, which begins like a JPEG image. */
export const uploadBody: Uint8Array = Buffer.concat([
  Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="title"\r\n\r\nA picture\r\n`),
  Buffer.from(`--${boundary}\r\ncontent-disposition: form-data; name="picture"; filename="picture.jpg"\r\n`),
  Buffer.from('content-type: image/jpeg\r\n\r\n'),
  Buffer.from('ffd8ffe000104a464946', 'hex'),
  randomBytes(fileBytes),
  Buffer.from(`\r\n--${boundary}--\r\n`),
]);

/** Each request creates a record with a file. */
export const upload: Row = {
  name: 'upload',
  title: 'create with a file of 200 kB',
  isWrite: true,
  isProductOnly: true,
  async prepare({ admin }) {
    const fields = [
      { name: 'title', type: 'text' },
      { name: 'picture', type: 'file' },
    ];
    await admin.call('POST', '/api/v1/collections', {
      name: uploadCollection,
      type: 'base',
      fields,
      create_rule: null,
    });
    return async () => {
      await admin.call('DELETE', `/api/v1/collections/${uploadCollection}`);
    };
  },
  requests: () => ({
    method: 'POST',
    paths: [`/api/v1/records/${uploadCollection}`],
    bodies: [uploadBody],
    headers: { 'content-type': uploadType },
  }),
};
