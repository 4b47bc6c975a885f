export type TelemetryProperties = Record<string, unknown>;

/** Where plugins count and measure; Hookline itself sends nothing anywhere. */
export interface Telemetry {
  capture(event: { event: string; properties?: TelemetryProperties }): void;
  captureRequired(event: string, properties?: TelemetryProperties): void;
  recordCounter(...metric: Metric<number>): void;
  recordHistogram(...metric: Metric<number>): void;
  recordGauge(...metric: Metric<number | null>): void;
  isEnabled(): boolean;
  setDistinctId(distinctId?: string): void;
  setMetadata(metadata: TelemetryProperties): void;
  updateMetadata(metadata: TelemetryProperties): void;
  setCommonProperties(properties: TelemetryProperties): void;
  updateCommonProperties(properties: TelemetryProperties): void;
  flush(): Promise<void>;
  dispose(): Promise<void>;
}

type Metric<Value> = [
  name: string,
  value: Value,
  attributes?: TelemetryProperties,
  description?: string,
  required?: boolean,
];
