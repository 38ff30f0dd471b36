/** What a store asks for 1,000 requests of a class, in US dollars; deleting costs nothing. */
export interface PriceList {
  readonly name: string;
  /** When it was read. */
  readonly date: string;
  /** PUT, COPY, POST, LIST. */
  readonly writes: number;
  /** GET, HEAD and what else reads. */
  readonly reads: number;
}

/** S3 Standard in us-east-1. Give the bench another one as JSON, in `S3_PRICES`. */
export const S3_STANDARD: PriceList = { name: 'S3 Standard, us-east-1', date: '2026-11', writes: 0.005, reads: 0.0004 };
