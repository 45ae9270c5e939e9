/** The types for the collections in `openLibrary`, in the form that `recordbus types` writes. */
export interface Library {
  houses: { record: House; create: { name: string }; update: { name?: string }; expand: HouseExpand };
  writers: { record: Writer; create: WriterCreate; update: Partial<WriterCreate>; expand: WriterExpand };
  books: { record: Book; create: BookCreate; update: BookUpdate; expand: BookExpand };
  tags: { record: Tag; create: { name: string }; update: { name?: string }; expand: Record<never, never> };
}

interface House {
  readonly id: string;
  readonly name: string;
  readonly created: number;
  readonly updated: number;
}

interface HouseExpand {
  readonly writers_via_house: readonly ['writers'];
}

interface Writer {
  readonly id: string;
  readonly name: string;
  readonly house: string | null;
  readonly created: number;
  readonly updated: number;
}

interface WriterCreate {
  name: string;
  house?: string | null;
}

interface WriterExpand {
  readonly house: 'houses';
  readonly books_via_writer: readonly ['books'];
}

interface Tag {
  readonly id: string;
  readonly name: string;
  readonly created: number;
  readonly updated: number;
}

interface Book {
  readonly id: string;
  readonly title: string;
  readonly slug: string | null;
  readonly stars: number | null;
  readonly kind: 'novel' | 'poem' | null;
  readonly writer: string | null;
  readonly tags: readonly string[];
  readonly meta: unknown;
  readonly cover: string | null;
  readonly pages: readonly string[];
  readonly created: number;
  readonly updated: number;
}

interface BookCreate {
  title: string;
  slug?: string | null;
  stars?: number | null;
  kind?: 'novel' | 'poem' | null;
  writer?: string | null;
  tags?: readonly string[];
  meta?: unknown;
  cover?: Blob | null;
  pages?: readonly Blob[];
}

type BookUpdate = Partial<Omit<BookCreate, 'stars' | 'tags' | 'pages'>> & {
  stars?: number | null | { readonly $add: number };
  tags?: readonly string[] | { readonly $append?: readonly string[]; readonly $remove?: readonly string[] };
  pages?: readonly (string | Blob)[] | null;
};

interface BookExpand {
  readonly writer: 'writers';
  readonly tags: readonly ['tags'];
}
