import type { ThumbSize } from '../thumb-size.ts';

/** The preview formats. */
export type PreviewFormat = 'jpeg' | 'png' | 'webp';

/** A preview to make. */
export interface PreviewOrder {
  readonly size: ThumbSize;
  readonly format: PreviewFormat;
}

/** What the service sends to a decoder: the image in chunks, then the order to decode it. */
export type ToDecoder =
  | { readonly kind: 'chunk'; readonly bytes: Uint8Array }
  | ({ readonly kind: 'measure' } & PreviewOrder)
  | { readonly kind: 'decode' };

/** What a decoder answers to `measure` and to `decode`. */
export type FromDecoder =
  | { readonly kind: 'ready' }
  | { readonly kind: 'measured'; readonly pixels: number; readonly decodedBytes: number }
  | { readonly kind: 'made'; readonly bytes: Uint8Array }
  /** This is not an image, or it is broken. */
  | { readonly kind: 'failed'; readonly message: string };
