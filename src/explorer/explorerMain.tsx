import { render } from 'preact'
import { startWatch } from './changeWatch.js'
import { Shell } from './shell.js'
import { startTheme } from './theme.js'

startTheme()
startWatch()
render(<Shell />, document.getElementById('page')!)
