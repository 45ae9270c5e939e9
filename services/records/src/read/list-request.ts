/** A client's list. The numbers are within their bounds. */
export interface ListRequest {
  /** 1-based. */
  readonly page: number;
  readonly perPage: number;
  readonly skipTotal: boolean;
  readonly filter?: string | undefined;
  /** Only these records are listed. `ids` sorts by their order here. */
  readonly ids?: readonly string[] | undefined;
  readonly sort?: string | undefined;
  readonly fields?: string | undefined;
  readonly expand?: string | undefined;
}

/** Page sizes that user interfaces use. */
const commonPageSizes = new Set([10, 20, 25, 30, 50, 100]);

/** Whether a page's statement has its size in the text (see `isCommonPage`). */
export const isCommonPageSize = (perPage: number): boolean => commonPageSizes.has(perPage);

/**
 * A first page with a common size has its limit in the statement's text. PostgreSQL assumes that a limit in a parameter
 * is a tenth of the table, so it would never keep a generic plan and would plan each request again.
 */
export const isCommonPage = ({ page, perPage }: ListRequest): boolean => page === 1 && isCommonPageSize(perPage);
