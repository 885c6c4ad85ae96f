package io.firesteel.core.parse

import java.lang.reflect.{InvocationHandler, InvocationTargetException, Method, Proxy}

import org.apache.spark.sql.catalyst.parser.ParserInterface

/**
 * Gives a parser the interfaces of its delegate.
 *
 * An extension may look for its own parser in the session's: Iceberg 1.10 asks whether the outermost
 * one is an `ExtendedParser`, to read the sort order in a `CALL`. The delegate answers the methods
 * that only it has. Methods of Spark's parser are ours, also where such an interface declares them
 * again, as Hudi's does with `parseQuery`.
 */
object AsDelegate {

  def apply(parser: ParserInterface, delegate: ParserInterface): ParserInterface = {
    val kinds = interfaces(delegate.getClass).filter(isKindOfParser).distinct
      // Such as that of two parsers of ours. A proxy may only throw what its interface declares.
      .filterNot(_.isInstance(parser))
    if (kinds.isEmpty) parser
    else {
      val loader = delegate.getClass.getClassLoader
      Proxy
        .newProxyInstance(loader, kinds.toArray, new Handler(parser, delegate))
        .asInstanceOf[ParserInterface]
    }
  }

  private def interfaces(of: Class[_]): Seq[Class[_]] =
    if (of == null) Nil
    else of.getInterfaces.toSeq.flatMap(each => each +: interfaces(each)) ++
      interfaces(of.getSuperclass)

  private def isKindOfParser(interface: Class[_]): Boolean =
    classOf[ParserInterface].isAssignableFrom(interface) && interface != classOf[ParserInterface]

  private final class Handler(parser: ParserInterface, delegate: ParserInterface)
    extends InvocationHandler {

    override def invoke(proxy: Any, method: Method, arguments: Array[AnyRef]): AnyRef = {
      val (target, called) = ofParser(method) match {
        case Some(own) => (parser, own)
        case None => (delegate, method)
      }
      try called.invoke(target, arguments: _*)
      catch { case e: InvocationTargetException => throw e.getCause }
    }

    private def ofParser(method: Method): Option[Method] =
      if (method.getDeclaringClass.isInstance(parser)) Some(method)
      else classOf[ParserInterface].getMethods.find { own =>
        own.getName == method.getName && own.getParameterTypes.sameElements(
          method.getParameterTypes)
      }
  }
}
