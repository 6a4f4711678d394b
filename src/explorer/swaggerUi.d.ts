declare module 'swagger-ui-dist/swagger-ui-es-bundle.js' {
  /** @param options see https://github.com/swagger-api/swagger-ui/blob/master/docs/usage/configuration.md */
  export default function SwaggerUi(options: {
    readonly spec: object
    readonly domNode: HTMLElement
    readonly deepLinking: boolean
    readonly tryItOutEnabled: boolean
    readonly displayRequestDuration: boolean
    readonly defaultModelsExpandDepth: number
    readonly docExpansion: 'list' | 'full' | 'none'
    readonly validatorUrl: string | null
    /** Each puts other components in the place of those with these names. */
    readonly plugins: readonly { readonly components: Readonly<Record<string, () => null>> }[]
  }): void
}
