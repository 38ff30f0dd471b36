/** Prices of 1,000 requests of each class, in US dollars. Deletes are free. */
export interface PriceList {
  readonly name: string;
  /** Month of the price list. */
  readonly date: string;
  /** PUT, COPY, POST, LIST. */
  readonly writes: number;
  /** GET, HEAD and other reads. */
  readonly reads: number;
}

/** S3 Standard in us-east-1. `S3_PRICES` gives the benchmark another list as JSON. */
export const S3_STANDARD: PriceList = { name: 'S3 Standard, us-east-1', date: '2026-11', writes: 0.005, reads: 0.0004 };
